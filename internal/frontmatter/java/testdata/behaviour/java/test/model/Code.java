package test.model;

public final class Code {
    private final long code;

    private Code(long code) {
        this.code = code;
    }

    public static Code valueOf(long code) {
        return new Code(code);
    }

    public long code() {
        return code;
    }
}
