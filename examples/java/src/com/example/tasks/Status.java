package com.example.tasks;

public enum Status {
    OPEN, DONE
}
