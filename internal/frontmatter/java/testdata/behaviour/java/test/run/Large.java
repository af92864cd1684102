package test.run;

import test.gen.LargeRepository;

/** Reads a million rows through a cursor; run it with little memory. */
public final class Large {
    private Large() {
    }

    public static void main(String[] args) {
        Counting source = new Counting(args[0], args[1]);
        long sum = new LargeRepository(source).findMillion().mapToLong(row -> row.length()).sum();
        if (!source.open.isEmpty()) {
            throw new IllegalStateException("open: " + source.open);
        }
        System.out.println("sum " + sum);
    }
}
