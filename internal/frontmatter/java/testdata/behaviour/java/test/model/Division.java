package test.model;

public record Division(Integer rest, int quotient) {
}
