package test.model;

public enum Status { OPEN, CLOSED }
