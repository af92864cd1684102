package test.run;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import test.gen.OutRepository;
import test.model.Status;

/** Parameters that calls set, of every type: procedures give back what they get. */
final class Outs {
    private static final Instant INSTANT = Instant.parse("2024-02-29T10:11:12Z");

    private final OutRepository out;
    private final String database;
    private BiConsumer<String, Run.Check> checks;

    Outs(OutRepository out, String database) {
        this.out = out;
        this.database = database;
    }

    static List<String> procedures(String database) {
        boolean postgres = database.equals("postgresql");
        if (!postgres && !database.equals("hsqldb")) {
            return List.of();
        }
        List<String> all = new ArrayList<>();
        Map<String, String> types = Map.ofEntries(Map.entry("boolean", "boolean"), Map.entry("smallint", "smallint"), Map.entry("integer", "integer"), Map.entry("bigint", "bigint"),
                Map.entry("real", "real"), Map.entry("double", "double precision"), Map.entry("char", "char(1)"), Map.entry("varchar", "varchar(100)"),
                Map.entry("numeric", "numeric(34, 4)"), Map.entry("bytes", postgres ? "bytea" : "varbinary(100)"), Map.entry("date", "date"), Map.entry("time", "time"),
                Map.entry("timestamp", "timestamp"), Map.entry("timestamptz", "timestamp with time zone"), Map.entry("timetz", "time with time zone"), Map.entry("uuid", "uuid"),
                Map.entry("bigints", "bigint array"), Map.entry("varchars", "varchar(10) array"), Map.entry("numerics", "numeric(10, 2) array"));
        types.forEach((name, type) -> {
            String head = "CREATE PROCEDURE echo_" + name + "(IN given " + type + ", OUT got " + type + ") ";
            all.add(head + (postgres ? "LANGUAGE plpgsql AS $$ BEGIN got := given; END $$" : "BEGIN ATOMIC SET got = given; END"));
        });
        String head = "CREATE PROCEDURE echo_inout(INOUT value_ varchar(100)) ";
        all.add(head + (postgres ? "LANGUAGE plpgsql AS $$ BEGIN value_ := value_ || '!'; END $$" : "BEGIN ATOMIC SET value_ = value_ || '!'; END"));
        return all;
    }

    /** Values come back as they are, and NULL as null. */
    private <T> void echo(String type, T value, UnaryOperator<T> call) {
        echo(type, value, value, call);
    }

    private <T> void echo(String type, T value, T want, UnaryOperator<T> call) {
        plain(type, value, want, call);
        checks.accept("OUT parameter NULL: " + type, () -> Run.equal(null, call.apply(null)));
    }

    private <T> void plain(String type, T value, T want, UnaryOperator<T> call) {
        checks.accept("OUT parameter: " + type, () -> Run.equal(want, call.apply(value)));
    }

    void register(BiConsumer<String, Run.Check> put) throws Exception {
        checks = put;
        numbers();
        times();
        objects();
        checks.accept("OUT parameter NULL: primitives", () -> {
            Run.equal(false, out.callNullBoolean());
            Run.equal((byte) 0, out.callNullByte());
            Run.equal((short) 0, out.callNullShort());
            Run.equal(0, out.callNullInt());
            Run.equal(0L, out.callNullLong());
            Run.equal(0f, out.callNullFloat());
            Run.equal(0.0, out.callNullDouble());
            Run.equal('\0', out.callNullChar());
        });
    }

    private void numbers() {
        plain("boolean", true, true, out::callBoolean);
        plain("byte", (byte) -1, (byte) -1, out::callByte);
        plain("short", (short) -2, (short) -2, out::callShort);
        plain("int", 3, 3, out::callInt);
        plain("long", 1L << 40, 1L << 40, out::callLong);
        plain("float", 1.5f, 1.5f, out::callFloat);
        plain("double", 2.5, 2.5, out::callDouble);
        plain("char", 'c', 'c', out::callChar);
        echo("Boolean", true, out::callBoxedBoolean);
        echo("Byte", (byte) -1, out::callBoxedByte);
        echo("Short", (short) -2, out::callBoxedShort);
        echo("Integer", 3, out::callBoxedInt);
        echo("Long", 1L << 40, out::callBoxedLong);
        echo("Float", 1.5f, out::callBoxedFloat);
        echo("Double", 2.5, out::callBoxedDouble);
        echo("Character", 'c', out::callBoxedChar);
        echo("BigDecimal", new BigDecimal("12.3400"), out::callDecimal);
        echo("BigDecimal with a scale", new BigDecimal("12.3400"), out::callScaled);
        echo("BigInteger", new BigInteger("123456789012345678901234567890"), out::callBig);
    }

    private void times() {
        echo("LocalDate", LocalDate.of(2024, 2, 29), out::callLocalDate);
        echo("LocalTime", LocalTime.of(10, 11, 12), out::callLocalTime);
        echo("LocalDateTime", LocalDateTime.of(2024, 2, 29, 10, 11, 12, 123_000_000), out::callLocalDateTime);
        OffsetDateTime moved = OffsetDateTime.parse("2024-02-29T10:11:12.123+02:00");
        boolean postgres = database.equals("postgresql"); // which knows no offset but that of the session
        echo("OffsetDateTime", moved, postgres ? moved.withOffsetSameInstant(ZoneOffset.UTC) : moved, out::callOffsetDateTime);
        OffsetTime time = OffsetTime.parse("10:11:12+02:00");
        echo("OffsetTime", time, postgres ? time.withOffsetSameInstant(ZoneOffset.UTC) : time, out::callOffsetTime);
        echo("Instant", INSTANT.plusMillis(123), out::callInstant);
        ZonedDateTime zoned = INSTANT.atZone(ZoneOffset.ofHours(2));
        echo("ZonedDateTime", zoned, postgres ? zoned.withZoneSameInstant(ZoneOffset.UTC) : zoned, out::callZonedDateTime);
        echo("Duration", Duration.ofMinutes(90), out::callDuration);
        echo("Period", Period.ofDays(3), out::callPeriod);
        echo("Year", Year.of(2024), out::callYear);
        echo("YearMonth", YearMonth.of(2024, 2), out::callYearMonth);
        echo("java.sql.Date", java.sql.Date.valueOf("2024-02-29"), out::callSqlDate);
        echo("java.sql.Time", java.sql.Time.valueOf("10:11:12"), out::callSqlTime);
        echo("Timestamp", Timestamp.valueOf("2024-02-29 10:11:12.123"), out::callTimestamp);
    }

    private void objects() throws Exception {
        echo("String", "t\u00e4xt \ud83d\ude00", out::callString);
        echo("byte[]", new byte[] {1, 2, -3}, out::callBytes);
        echo("URI", URI.create("https://example.com/a?b=c"), out::callUri);
        echo("URL", URI.create("https://example.com/").toURL(), out::callUrl);
        echo("UUID", UUID.fromString("00000000-0000-0000-0000-0000000000ff"), out::callUuid);
        echo("enum", Status.CLOSED, out::callStatus);
        echo("long[]", new long[] {1, 2}, out::callLongs);
        echo("Long[]", new Long[] {3L, null}, out::callBoxedLongs);
        echo("String[]", new String[] {"a", null, "\"b\","}, out::callTexts);
        BigDecimal[] decimals = {new BigDecimal(database.equals("hsqldb") ? "1.00" : "1.50")};
        echo("BigDecimal[]", decimals, out::callDecimals);
        echo("Object", (Object) 5L, out::callObject);
        checks.accept("OUT parameter: valueOf", () -> Run.equal(7L, out.callCode(7L).code()));
        checks.accept("OUT parameter NULL: valueOf", () -> Run.equal(null, out.callCode(null)));
        checks.accept("INOUT parameter: String", () -> Run.equal(Optional.of("x!"), Optional.of(out.callInOut("x"))));
        checks.accept("INOUT parameter NULL: String", () -> Run.equal(null, out.callInOut(null)));
    }
}
