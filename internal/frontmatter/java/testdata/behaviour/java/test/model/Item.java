package test.model;

import java.time.Instant;

public record Item(long id, String name, Status status, Instant created, Address address) {
    public record Address(String zip, String city) {
    }
}
