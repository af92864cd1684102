package test.run;

import java.io.IOException;
import java.io.InputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import test.gen.ItemRepository;
import test.model.Item;
import test.model.NameConverter;

/**
 * Compares generated code with JDBC written by hand: warmed up, in turns, by the median of what the rounds compare to.
 * One kind of call is measured in a process, because what was compiled for one would be used for the next.
 */
@SuppressWarnings("deprecation") // a statement has the annotation
public final class Speed {
    private interface Work {
        long run() throws SQLException;
    }

    /** Reads rows, and says how many. */
    public interface Rows {
        int count(Connection connection) throws SQLException;
    }

    /** Loads what is written by hand once more: the same code, which the compiler of the JVM treats as another. */
    private static final class Again extends ClassLoader {
        private static final String CLASS = ByHand.class.getName();

        private Again() {
            super(Speed.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(CLASS)) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = getResourceAsStream(CLASS.replace('.', '/') + ".class")) {
                byte[] code = in.readAllBytes();
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        static Rows rows() throws ReflectiveOperationException {
            return (Rows) new Again().loadClass(CLASS).getConstructor().newInstance();
        }
    }

    private record Pair(Work generated, Work written) {
    }

    private static final int ROUNDS = 41;
    private static final int WARM_UP = 24;
    private static final int ROWS = 1000;
    private static final int CALLS = 500; // of what handles one row

    private Speed() {
    }

    /** Without the name of a kind it prints their names. */
    public static void main(String[] args) throws SQLException, ReflectiveOperationException {
        try (Connection connection = DriverManager.getConnection(args[0], args[1], "")) {
            Map<String, Pair> pairs = pairs(connection, new ItemRepository(new Counting(args[0], args[1]), new NameConverter()));
            if (args.length < 3) {
                pairs.keySet().forEach(System.out::println);
                return;
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE items (id bigint PRIMARY KEY, name varchar(100), status varchar(10) NOT NULL, created timestamp with time zone, zip varchar(10), city_name varchar(50))");
                statement.execute("INSERT INTO items SELECT x, 'name', 'OPEN', current_timestamp, 'zip', 'city' FROM system_range(1, " + ROWS + ")");
            }
            System.out.println(compare(pairs.get(args[2])));
        }
    }

    private static Map<String, Pair> pairs(Connection connection, ItemRepository items) throws ReflectiveOperationException {
        Map<String, Pair> pairs = new LinkedHashMap<>();
        Work single = () -> each(id -> items.findItem(connection, id).get().address().city().length());
        pairs.put("single", new Pair(single, () -> each(id -> ByHand.one(connection, id).address().city().length())));
        pairs.put("single-by-position", new Pair(single, () -> each(id -> ByHand.oneByPosition(connection, id).address().city().length())));
        pairs.put("rows", new Pair(() -> items.findItems(connection).size(), () -> ByHand.all(connection).size()));
        Rows once = new ByHand();
        Rows again = Again.rows();
        pairs.put("rows-by-hand-twice", new Pair(() -> again.count(connection), () -> once.count(connection)));
        pairs.put("cursor", new Pair(() -> sum(items.findStream(connection)), () -> sum(ByHand.stream(connection))));
        pairs.put("update", new Pair(() -> each(id -> items.doUpdateName(connection, "other", id)), () -> each(id -> ByHand.update(connection, "other", id))));
        long[] ids = LongStream.rangeClosed(1, ROWS).toArray();
        String[] names = new String[ROWS];
        Arrays.fill(names, "other");
        pairs.put("batch", new Pair(() -> items.allUpdateName(connection, names, ids).length, () -> ByHand.updateAll(connection, names, ids).length));
        return pairs;
    }

    private static long sum(Stream<Item> items) {
        try (items) {
            return items.mapToLong(Item::id).sum();
        }
    }

    private interface ById {
        long run(long id) throws SQLException;
    }

    private static long each(ById work) throws SQLException {
        long sum = 0;
        for (long id = 1; id <= CALLS; id++) {
            sum += work.run(id);
        }
        return sum;
    }

    private static double compare(Pair pair) throws SQLException {
        double[] ratios = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            boolean first = (round & 1) == 0;
            long x = first ? time(pair.generated()) : 0;
            long y = time(pair.written());
            x = first ? x : time(pair.generated());
            if (round >= 0) {
                ratios[round] = (double) x / y;
            }
        }
        Arrays.sort(ratios);
        return ratios[ROUNDS / 2];
    }

    private static long time(Work work) throws SQLException {
        long start = System.nanoTime();
        long sum = 0;
        for (int i = 0; i < 20; i++) {
            sum += work.run();
        }
        if (sum == 0) {
            throw new IllegalStateException("nothing was read");
        }
        return System.nanoTime() - start;
    }
}
