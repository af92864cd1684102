package test.run;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
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
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import test.gen.ItemRepository;
import test.gen.OutRepository;
import test.gen.ProcRepository;
import test.gen.TypesRepository;
import test.model.Division;
import test.model.Everything;
import test.model.Item;
import test.model.NameConverter;
import test.model.Status;

/** Runs what was generated against one database, and prints a line for every check. */
@SuppressWarnings("deprecation") // a statement has the annotation
public final class Run {
    interface Check {
        void run() throws Exception;
    }

    private final Map<String, Check> checks = new LinkedHashMap<>();
    private final String database;
    private final Counting source;
    private final ItemRepository items;
    private final TypesRepository types;
    private final ProcRepository proc;

    private final Connection admin;

    private Run(String database, String url, String user) throws SQLException {
        this.database = database;
        this.admin = DriverManager.getConnection(url, user, "");
        this.source = new Counting(url, user);
        this.items = new ItemRepository(source, new NameConverter());
        this.types = new TypesRepository(source);
        this.proc = new ProcRepository(source);
    }

    private boolean is(String... names) {
        return Arrays.asList(names).contains(database);
    }

    public static void main(String[] args) throws Exception {
        Run run = new Run(args[0], args[1], args[2]);
        run.create();
        run.register();
        int failures = 0;
        for (Map.Entry<String, Check> check : run.checks.entrySet()) {
            try {
                run.reset();
                check.getValue().run();
                equal(List.of(), run.source.open);
                System.out.println("ok " + check.getKey());
            } catch (Throwable e) {
                failures++;
                StringBuilder trace = new StringBuilder();
                for (StackTraceElement frame : e.getStackTrace()) {
                    if (frame.getClassName().startsWith("test.") && trace.length() < 300) {
                        trace.append(" at ").append(frame);
                    }
                }
                for (Throwable t = e; t != null; t = t.getCause()) {
                    trace.insert(0, " / " + t);
                }
                System.out.println("FAIL " + check.getKey() + ":" + trace.toString().replaceAll("\\s+", " "));
            }
        }
        System.exit(failures == 0 ? 0 : 1);
    }

    /** Executes on one connection of its own, which nothing counts: opening one is what takes time. */
    private void execute(String... statements) throws SQLException {
        try (Statement s = admin.createStatement()) {
            for (String sql : statements) {
                s.execute(sql);
            }
        }
    }

    private void reset() throws SQLException {
        execute("DELETE FROM items", "DELETE FROM everything", "DELETE FROM zoned_times");
        source.open.clear();
        source.failAt = -1;
        source.failed = false;
        source.failedAt = "";
        source.error = false;
        source.calls = 0;
        source.connections = 0;
        source.autoCommits = 0;
        source.finds = 0;
        source.left.clear();
        source.rollbackFails = false;
        source.restoreFails = false;
        source.inTransaction = false;
    }

    private void create() throws SQLException {
        String bytes = is("postgresql") ? "bytea" : "varbinary(100)";
        execute("CREATE TABLE items (id bigint PRIMARY KEY, name varchar(100), status varchar(10) NOT NULL, created timestamp with time zone, zip varchar(10), city_name varchar(50))",
                "CREATE TABLE zoned_times (value_ time with time zone)",
                "CREATE TABLE everything (\"p_boolean\" boolean, \"p_byte\" smallint, \"p_short\" smallint, \"p_int\" integer, \"p_long\" bigint, \"p_float\" real,"
                        + "\"p_double\" double precision, \"p_char\" char(1), \"b_boolean\" boolean, \"b_byte\" smallint, \"b_short\" smallint, \"b_int\" integer,"
                        + "\"b_long\" bigint, \"b_float\" real, \"b_double\" double precision, \"b_char\" char(1), \"string\" varchar(100), \"decimal\" numeric(20, 4),"
                        + "\"big\" numeric(30), \"bytes\" " + bytes + ", \"local_date\" date, \"local_time\" time, \"local_date_time\" timestamp,"
                        + "\"offset_date_time\" timestamp with time zone, \"instant\" timestamp with time zone, \"zoned_date_time\" timestamp with time zone,"
                        + "\"duration\" varchar(50), \"period\" varchar(50), \"year\" integer, \"year_month\" varchar(10), \"sql_date\" date, \"sql_time\" time,"
                        + "\"timestamp\" timestamp, \"uri\" varchar(100), \"url\" varchar(100), \"uuid\" uuid, \"status\" varchar(10), \"longs\" bigint array,"
                        + "\"boxes\" bigint array, \"texts\" varchar(10) array, \"decimals\" numeric(10,2) array, \"object\" bigint, \"wide\" numeric(10, 2))");
        for (String procedure : Outs.procedures(database)) {
            execute(procedure);
        }
        if (is("postgresql")) {
            execute("CREATE PROCEDURE add_one(IN a int, OUT b int) LANGUAGE plpgsql AS $$ BEGIN b := a + 1; END $$",
                    "CREATE PROCEDURE twice(INOUT x int) LANGUAGE plpgsql AS $$ BEGIN x := x * 2; END $$",
                    "CREATE PROCEDURE divide(IN a int, IN b int, OUT q int, OUT r int) LANGUAGE plpgsql AS $$ BEGIN q := a / b; r := a % b; END $$",
                    "CREATE PROCEDURE touch() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO items (id, status) VALUES (99, 'OPEN'); END $$");
        }
        if (is("hsqldb")) {
            execute("CREATE PROCEDURE add_one(IN a int, OUT b int) BEGIN ATOMIC SET b = a + 1; END",
                    "CREATE PROCEDURE twice(INOUT x int) BEGIN ATOMIC SET x = x * 2; END",
                    "CREATE PROCEDURE divide(IN a int, IN b int, OUT q int, OUT r int) BEGIN ATOMIC SET q = a / b; SET r = MOD(a, b); END",
                    "CREATE PROCEDURE touch() MODIFIES SQL DATA BEGIN ATOMIC INSERT INTO items (id, status) VALUES (99, 'OPEN'); END",
                    "CREATE PROCEDURE rows_from(IN a bigint) READS SQL DATA DYNAMIC RESULT SETS 1 BEGIN ATOMIC"
                            + " DECLARE found CURSOR WITH RETURN FOR SELECT id FROM items WHERE id >= a ORDER BY id FOR READ ONLY; OPEN found; END");
        }
    }

    static void equal(Object want, Object got) {
        if (!Objects.deepEquals(want, got)) {
            throw new AssertionError("want " + show(want) + ", got " + show(got));
        }
    }

    private static String show(Object o) {
        return o instanceof Object[] ? Arrays.deepToString((Object[]) o) : String.valueOf(o);
    }

    private static <T extends Throwable> T fails(Class<T> type, String part, Check check) throws Exception {
        try {
            check.run();
        } catch (Throwable e) {
            if (type.isInstance(e) && e.getMessage().contains(part)) {
                return type.cast(e);
            }
            throw new AssertionError("another failure: " + e, e);
        }
        throw new AssertionError("no failure");
    }

    private static final Instant CREATED = Instant.parse("2024-02-29T10:11:12Z");

    private void insert(long... ids) {
        for (long id : ids) {
            items.insertItem(admin, id, "name" + id, "OPEN", CREATED.atOffset(ZoneOffset.UTC), "z" + id, "c" + id);
        }
    }

    private void register() throws Exception {
        checks.put("single", () -> {
            insert(1);
            equal(Optional.of(new Item(1, "name1", Status.OPEN, CREATED, new Item.Address("z1", "c1"))), items.findItem(1));
            equal(Optional.empty(), items.findItem(2));
        });
        checks.put("update count", () -> {
            equal(1, items.insertItem(1, "a", "OPEN", null, null, null));
            equal(1, items.doUpdateName("b", 1));
            equal(0, items.doUpdateName("b", 2));
            equal(Optional.of("b"), items.findName(1));
            items.updateQuietly("c", 1);
            equal(Optional.of("c"), items.findName(1));
            equal(1, items.deleteAll());
        });
        checks.put("NULL as a single scalar is empty", () -> {
            items.insertItem(1, null, "OPEN", null, null, null);
            equal(Optional.empty(), items.findName(1));
            equal(new Item(1, null, Status.OPEN, null, new Item.Address(null, null)), items.findItem(1).get());
        });
        checks.put("multiple, columns are found once", () -> {
            insert(1, 2, 3);
            source.finds = 0;
            equal(List.of(1L, 2L, 3L), items.findItems().stream().map(Item::id).collect(Collectors.toList()));
            equal(6, source.finds);
        });
        checks.put("enum", () -> {
            insert(1);
            equal(Optional.of(Status.OPEN), items.findStatus(1));
        });
        checks.put("valueOf and throwOnMultipleResults", () -> {
            insert(1);
            equal(1L, items.findByStatus(Status.OPEN).get().code());
            equal(Optional.empty(), items.findByStatus(Status.CLOSED));
            insert(2);
            fails(IllegalStateException.class, "test.gen.ItemRepository.findByStatus", () -> items.findByStatus(Status.OPEN));
        });
        checks.put("maps by label", () -> {
            insert(1);
            Map<String, Object> row = items.findMaps().get(0);
            equal(List.of("id", "name"), row.keySet().stream().map(String::toLowerCase).collect(Collectors.toList()));
            equal(List.of(1L, "name1"), List.copyOf(row.values()));
            fails(IllegalStateException.class, "two columns are called", items::findTwice);
        });
        checks.put("converters of the user", () -> {
            insert(1);
            equal(List.of("<name1>"), items.findConverted());
            equal(List.of("<name1>"), items.findInjected());
        });
        checks.put("collections", () -> {
            insert(1, 2, 3);
            equal(List.of(1L, 2L), items.findItemsByIds(List.of(1L, 2L), Status.OPEN, Set.of(3L)));
            equal(List.of(2L), items.findItemsByIds(List.of(1L, 2L), Status.OPEN, Set.of(1L)));
            equal(List.of(), items.findItemsByIds(List.of(), Status.OPEN, Set.of()));
            equal(List.of(1L, 2L), items.findItemsByIds(List.of(1L, 2L), Status.OPEN, Set.of()));
            List<Long> many = LongStream.rangeClosed(2, 1000).boxed().collect(Collectors.toList());
            equal(List.of(2L, 3L), items.findItemsByIds(many, Status.OPEN, Set.of()));
        });
        checks.put("reading none", () -> items.readNothing("x", 1));
        checks.put("given connection and the caller's transaction", () -> {
            insert(1);
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                equal(1, items.deleteInTransaction(connection, 1));
                equal(Optional.empty(), items.findItem(connection, 1));
                connection.rollback();
                equal(false, connection.getAutoCommit());
            }
            equal(true, items.findItem(1).isPresent());
        });
        checks.put("batch", () -> {
            equal(2, items.insertItemBatch(new long[] {1, 2}, new String[] {"a", null}, new String[] {"OPEN", "OPEN"},
                    new OffsetDateTime[2], new String[2], new String[2]).length);
            equal(1, source.autoCommits);
            equal(new int[] {1, 0}, items.allUpdateName(new String[] {"x", "y"}, new long[] {1, 9}));
            equal(Optional.of("x"), items.findName(1));
        });
        checks.put("batch is one transaction", () -> {
            fails(RuntimeException.class, "insertItemBatch", () -> items.insertItemBatch(new long[] {1, 2, 1}, new String[3],
                    new String[] {"OPEN", "OPEN", "OPEN"}, new OffsetDateTime[3], new String[3], new String[3]));
            equal(0, items.findItems().size());
        });
        checks.put("batch of a given connection", () -> {
            insert(1);
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                equal(new int[] {1}, items.allUpdateName(connection, new String[] {"x"}, new long[] {1}));
                equal(Optional.of("x"), items.findName(connection, 1));
                connection.rollback();
                equal(false, connection.getAutoCommit());
            }
            equal(Optional.of("name1"), items.findName(1));
            equal(0, source.autoCommits);
        });
        checks.put("batch and cursor in a transaction of the data source", () -> {
            insert(1);
            source.inTransaction = true;
            equal(new int[] {1}, items.allUpdateName(new String[] {"x"}, new long[] {1}));
            equal(1L, items.findStream().count());
            equal(0, source.autoCommits);
            source.inTransaction = false;
            equal(Optional.of("name1"), items.findName(1)); // nobody has committed
        });
        checks.put("batch of nothing and of different lengths", () -> {
            equal(new int[0], items.allUpdateName(new String[0], new long[0]));
            equal(0, source.calls);
            fails(IllegalArgumentException.class, "different lengths", () -> items.allUpdateName(new String[1], new long[2]));
            equal(0, source.calls);
        });
        checks.put("cursor exhausted", () -> {
            insert(1, 2, 3);
            equal(List.of(1L, 2L, 3L), items.findStream().map(Item::id).collect(Collectors.toList()));
            equal(1, source.autoCommits);
        });
        checks.put("cursor exhausted by an iterator", () -> {
            insert(1, 2);
            Iterator<Item> rows = items.findStream().iterator();
            equal(1L, rows.next().id());
            equal(2L, rows.next().id());
            equal(false, rows.hasNext());
            equal(false, rows.hasNext());
            equal(1, source.autoCommits);
        });
        checks.put("cursor closed early", () -> {
            insert(1, 2, 3);
            try (Stream<Item> stream = items.findStream()) {
                Iterator<Item> rows = stream.iterator();
                equal(1L, rows.next().id());
                equal(false, source.open.isEmpty());
            }
            equal(1, source.autoCommits);
        });
        checks.put("cursor whose reader fails", () -> {
            insert(1, 2, 3);
            fails(IllegalArgumentException.class, "mine", () -> items.findStream().forEach(item -> {
                throw new IllegalArgumentException("mine");
            }));
        });
        checks.put("cursor that cannot be built", () -> {
            fails(SQLException.class, "", items::findBroken);
            equal(1, source.autoCommits);
        });
        checks.put("cursor of a given connection", () -> {
            insert(1, 2);
            try (Connection connection = source.getConnection()) {
                equal(2L, items.findStream(connection).count());
                equal(1, source.open.size());
                equal(false, connection.isClosed());
            }
        });
        checks.put("catch and rethrow", () -> {
            RuntimeException e = fails(RuntimeException.class, "test.gen.ItemRepository.findBrokenList", items::findBrokenList);
            equal(true, e.getCause() instanceof SQLException);
        });
        checks.put("vendor variants", () -> equal(Optional.of(is("postgresql") ? "postgres" : "any"), items.findProduct()));
        if (is("hsqldb")) {
            checks.put("no variant for the vendor", () -> fails(IllegalStateException.class, "PostgreSQL, H2, not for HSQL", () -> items.addItem(1, "OPEN")));
        } else {
            checks.put("writing with rows", () -> {
                equal(Optional.of(7L), items.addItem(7, "OPEN"));
                equal(List.of(20L, 21L), items.addItems(20).collect(Collectors.toList()));
                equal(3, items.findItems().size());
                equal(List.of(30L, 31L), items.addMany(30).stream().map(Item::id).collect(Collectors.toList()));
            });
            checks.put("leaks: cursor of writing", () -> leaks(() -> items.addItems(20).count()));
            checks.put("leaks: writing with many rows", () -> leaks(() -> items.addMany(20)));
            checks.put("leaks: writing with rows", () -> leaks(() -> items.addItem(1, "OPEN")));
        }
        checks.put("writing that returns no rows", () -> fails(RuntimeException.class, "addNothing", () -> items.addNothing(1)));
        if (is("postgresql", "hsqldb")) {
            checks.put("calls", () -> {
                equal(3, proc.callAddOne(2));
                equal(14, proc.callTwice(7));
                equal(Map.of("quotient", 3, "rest", 1), proc.callDivide(7, 2));
                equal(new Division(1, 3), proc.callDivideRecord(7, 2));
                proc.callTouch();
                equal(true, items.findItem(99).isPresent());
            });
            new Outs(new OutRepository(source), database).register(checks::put);
            checks.put("leaks: call that sets one parameter", () -> leaks(() -> proc.callTwice(7)));
            checks.put("leaks: call that returns nothing", () -> leaks(proc::callTouch));
            checks.put("leaks: call", () -> leaks(() -> proc.callDivideRecord(7, 2)));
        }
        if (is("hsqldb")) {
            checks.put("calls with rows", () -> {
                insert(1, 2, 3);
                equal(List.of(2L, 3L), proc.callRows(2));
                equal(List.of(), proc.callRows(4));
                equal(Optional.of(2L), proc.callFirst(2));
                equal(Optional.empty(), proc.callFirst(4));
                equal(List.of(2L, 3L), proc.callStream(2).collect(Collectors.toList()));
                try (Stream<Long> stream = proc.callStream(1)) {
                    equal(Optional.of(1L), stream.findFirst());
                }
                equal(0, source.autoCommits);
            });
            checks.put("leaks: call with rows", () -> leaks(() -> proc.callRows(1)));
            checks.put("leaks: cursor of a call", () -> leaks(() -> proc.callStream(1).count()));
        }
        checks.put("nested record without a row in a LEFT JOIN", () -> {
            insert(1);
            equal(List.of(new Item(1, "name1", Status.OPEN, CREATED, new Item.Address(null, null))), items.findJoined());
        });
        checks.put("batch whose autocommit cannot be restored", () -> {
            insert(1);
            source.restoreFails = true;
            fails(RuntimeException.class, "allUpdateName", () -> items.allUpdateName(new String[] {"x"}, new long[] {1}));
        });
        if (is("h2")) {
            checks.put("call with rows", () -> equal(Optional.of(5), proc.callSum(2, 3)));
        }
        checks.put("every type", this::everyType);
        checks.put("every NULL", this::everyNull);
        checks.put("time with zone", () -> {
            OffsetTime time = OffsetTime.parse("10:11:12+02:00");
            types.insertTimeWithZone(time);
            equal(List.of(time), types.findTimesWithZone());
            reset();
            types.insertTimeWithZone(null);
            equal(Arrays.asList((OffsetTime) null), types.findTimesWithZone());
        });
        checks.put("leaks: single", () -> leaks(() -> items.findItem(1)));
        checks.put("leaks: multiple", () -> leaks(items::findMaps));
        checks.put("leaks: collections", () -> leaks(() -> items.findItemsByIds(List.of(1L), Status.OPEN, Set.of())));
        checks.put("leaks: reading none", () -> leaks(() -> items.readNothing("x", 1)));
        checks.put("leaks: converter of the user", () -> leaks(items::findConverted));
        checks.put("leaks: update", () -> leaks(() -> items.doUpdateName("x", 1)));
        checks.put("leaks: plain statement", () -> leaks(items::deleteAll));
        checks.put("leaks: batch", () -> leaksInTransaction(() -> items.allUpdateName(new String[] {"x", "y"}, new long[] {1, 2})));
        checks.put("leaks: vendor", () -> leaks(items::findProduct));
        checks.put("leaks: cursor", () -> leaksInTransaction(() -> items.findStream().mapToLong(Item::id).sum()));
        checks.put("leaks: cursor read by an iterator", () -> leaksInTransaction(() -> items.findStream().iterator().forEachRemaining(Item::id)));
        checks.put("leaks: cursor closed early", () -> leaksInTransaction(() -> {
            try (Stream<Item> stream = items.findStream()) {
                stream.findFirst();
            }
        }));
    }

    /** Fails at every call in turn, with an exception and with an error: nothing stays open, and autocommit is what it was
     * unless it was the call for that which failed. */
    private void leaks(Check check) throws Exception {
        leaks(check, false, false);
    }

    /** The same when rolling back fails as well; when restoring autocommit does, nothing stays open. */
    private void leaksInTransaction(Check check) throws Exception {
        leaks(check);
        leaks(check, true, false);
        leaks(check, false, true);
    }

    private void leaks(Check check, boolean rollbackFails, boolean restoreFails) throws Exception {
        for (boolean error : new boolean[] {false, true}) {
            for (int at = 1;; at++) {
                reset();
                source.rollbackFails = rollbackFails;
                source.restoreFails = restoreFails;
                insert(1, 2, 3);
                equal(List.of(), source.open);
                source.calls = 0;
                source.error = error;
                source.failAt = at;
                boolean thrown = false;
                try {
                    check.run();
                } catch (RuntimeException | SQLException | StackOverflowError e) {
                    thrown = true;
                }
                equal(List.of(), source.open);
                if (!restoreFails && !source.failedAt.equals("setAutoCommit")) {
                    equal(List.of(), source.left);
                }
                if (!source.failed) {
                    break;
                }
                equal(true, thrown);
            }
        }
    }

    private void insertEverything(Everything e) {
        types.insertEverything(e.pBoolean(), e.pByte(), e.pShort(), e.pInt(), e.pLong(), e.pFloat(), e.pDouble(), e.pChar(),
                e.bBoolean(), e.bByte(), e.bShort(), e.bInt(), e.bLong(), e.bFloat(), e.bDouble(), e.bChar(),
                e.string(), e.decimal(), e.big(), e.bytes(), e.localDate(), e.localTime(), e.localDateTime(), e.offsetDateTime(),
                e.instant(), e.zonedDateTime(), e.duration(), e.period(), e.year(), e.yearMonth(), e.sqlDate(), e.sqlTime(),
                e.timestamp(), e.uri(), e.url(), e.uuid(), e.status(), e.longs(), e.boxes(), e.texts(), e.decimals(), e.object(), e.wide());
    }

    private static void same(Everything want, Everything got) throws Exception {
        for (var component : Everything.class.getRecordComponents()) {
            Object w = component.getAccessor().invoke(want);
            Object g = component.getAccessor().invoke(got);
            if (w instanceof OffsetDateTime && g instanceof OffsetDateTime) {
                w = ((OffsetDateTime) w).toInstant();
                g = ((OffsetDateTime) g).toInstant();
            }
            if (w instanceof java.time.ZonedDateTime && g instanceof java.time.ZonedDateTime) {
                w = ((java.time.ZonedDateTime) w).toInstant();
                g = ((java.time.ZonedDateTime) g).toInstant();
            }
            if (!Objects.deepEquals(w, g)) {
                throw new AssertionError(component.getName() + ": want " + show(w) + ", got " + show(g));
            }
        }
    }

    private void everyType() throws Exception {
        Everything e = new Everything(true, (byte) 1, (short) 2, 3, 4L, 1.5f, 2.5, 'c',
                true, (byte) -1, (short) -2, -3, -4L, -1.5f, -2.5, 'd',
                "t\u00e4xt \ud83d\ude00", new BigDecimal("12.3400"), new BigInteger("123456789012345678901234567890"), new byte[] {1, 2, -3},
                LocalDate.of(2024, 2, 29), LocalTime.of(10, 11, 12), LocalDateTime.of(2024, 2, 29, 10, 11, 12),
                OffsetDateTime.parse("2024-02-29T10:11:12+02:00"), CREATED, CREATED.atZone(ZoneOffset.UTC),
                Duration.ofMinutes(90), Period.ofDays(3), Year.of(2024), YearMonth.of(2024, 2),
                java.sql.Date.valueOf("2024-02-29"), java.sql.Time.valueOf("10:11:12"), Timestamp.valueOf("2024-02-29 10:11:12"),
                URI.create("https://example.com/a?b=c"), URI.create("https://example.com/").toURL(), UUID.fromString("00000000-0000-0000-0000-0000000000ff"),
                Status.CLOSED, new long[] {1, 2}, new Long[] {3L, null}, new String[] {"a", null, "\"b\","},
                new BigDecimal[] {new BigDecimal(is("hsqldb") ? "1.00" : "1.50")}, 5L, new BigDecimal("1.25"));
        insertEverything(e);
        same(e, types.findEverything().get(0));
        types.deleteEverything();
        equal(1, types.insertEverythingBatch(new boolean[] {true}, new byte[] {1}, new short[] {2}, new int[] {3}, new long[] {4}, new float[] {1.5f},
                new double[] {2.5}, new char[] {'c'}, new Boolean[] {true}, new Byte[] {-1}, new Short[] {-2}, new Integer[] {-3}, new Long[] {-4L},
                new Float[] {-1.5f}, new Double[] {-2.5}, new Character[] {'d'}, new String[] {e.string()}, new BigDecimal[] {e.decimal()},
                new BigInteger[] {e.big()}, new byte[][] {e.bytes()}, new LocalDate[] {e.localDate()}, new LocalTime[] {e.localTime()},
                new LocalDateTime[] {e.localDateTime()}, new OffsetDateTime[] {e.offsetDateTime()}, new Instant[] {e.instant()},
                new java.time.ZonedDateTime[] {e.zonedDateTime()}, new Duration[] {e.duration()}, new Period[] {e.period()}, new Year[] {e.year()},
                new YearMonth[] {e.yearMonth()}, new java.sql.Date[] {e.sqlDate()}, new java.sql.Time[] {e.sqlTime()}, new Timestamp[] {e.timestamp()},
                new URI[] {e.uri()}, new java.net.URL[] {e.url()}, new UUID[] {e.uuid()}, new Status[] {e.status()}, new long[][] {e.longs()},
                new Long[][] {e.boxes()}, new String[][] {e.texts()}, new BigDecimal[][] {e.decimals()}, new Object[] {e.object()},
                new BigDecimal[] {e.wide()}).length);
        same(e, types.findEverything().get(0));
    }

    private void everyNull() throws Exception {
        Everything nothing = new Everything(false, (byte) 0, (short) 0, 0, 0L, 0f, 0, 'c', null, null, null, null, null, null, null, null,
                null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                null, null, null, null, null, null);
        insertEverything(nothing);
        same(nothing, types.findEverything().get(0));
        execute("DELETE FROM everything", "INSERT INTO everything (\"b_int\") VALUES (NULL)");
        Everything got = types.findEverything().get(0);
        equal('\0', got.pChar());
        equal(0L, got.pLong());
        equal(false, got.pBoolean());
        equal(null, got.longs());
    }
}
