package com.example.tasks;

import java.time.LocalDate;

public record Task(long id, String title, Status status, LocalDate due) {
}
