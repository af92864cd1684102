package test.run;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import test.gen.ItemRepository;
import test.model.Item;
import test.model.NameConverter;
import test.model.Status;

/** Compares generated code with JDBC written by hand, which finds its columns by label as well unless it is said
 * to know their positions: warmed up, in turns, by the median of what the rounds compare to. */
@SuppressWarnings("deprecation") // a statement has the annotation
public final class Speed {
    private interface Work {
        int run() throws SQLException;
    }

    private static final int ROUNDS = 61;
    private static final int WARM_UP = 40;

    private Speed() {
    }

    public static void main(String[] args) throws SQLException {
        try (Connection connection = DriverManager.getConnection(args[0], args[1], "")) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE items (id bigint PRIMARY KEY, name varchar(100), status varchar(10) NOT NULL, created timestamp with time zone, zip varchar(10), city_name varchar(50))");
                statement.execute("INSERT INTO items SELECT x, 'name', 'OPEN', current_timestamp, 'zip', 'city' FROM system_range(1, 1000)");
            }
            ItemRepository items = new ItemRepository(new Counting(args[0], args[1]), new NameConverter());
            compare("rows", () -> items.findItems(connection).size(), () -> all(connection).size());
            compare("single", () -> singles(id -> items.findItem(connection, id).get().address().city().length()),
                    () -> singles(id -> one(connection, id, false).address().city().length()));
            compare("single-by-position", () -> singles(id -> items.findItem(connection, id).get().address().city().length()),
                    () -> singles(id -> one(connection, id, true).address().city().length()));
            compare("update", () -> singles(id -> items.doUpdateName(connection, "other", id)), () -> singles(id -> update(connection, "other", id)));
        }
    }

    private interface ById {
        int run(long id) throws SQLException;
    }

    private static int singles(ById work) throws SQLException {
        int sum = 0;
        for (long id = 1; id <= 500; id++) {
            sum += work.run(id);
        }
        return sum;
    }

    private static void compare(String name, Work generated, Work written) throws SQLException {
        double[] ratios = new double[ROUNDS];
        for (int round = -WARM_UP; round < ROUNDS; round++) {
            boolean first = (round & 1) == 0;
            long x = first ? time(generated) : 0;
            long y = time(written);
            x = first ? x : time(generated);
            if (round >= 0) {
                ratios[round] = (double) x / y;
            }
        }
        Arrays.sort(ratios);
        System.out.println(name + " " + ratios[ROUNDS / 2]);
    }

    private static long time(Work work) throws SQLException {
        long start = System.nanoTime();
        int sum = 0;
        for (int i = 0; i < 20; i++) {
            sum += work.run();
        }
        if (sum == 0) {
            throw new IllegalStateException("nothing was read");
        }
        return System.nanoTime() - start;
    }

    private static List<Item> all(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT * FROM items ORDER BY id"); ResultSet rows = statement.executeQuery()) {
            int[] columns = columns(rows);
            List<Item> items = new ArrayList<>();
            while (rows.next()) {
                items.add(item(rows, columns));
            }
            return items;
        }
    }

    private static int update(Connection connection, String name, long id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("UPDATE items SET name = ? WHERE id = ? AND ? > 0")) {
            statement.setString(1, name);
            statement.setLong(2, id);
            statement.setLong(3, id);
            return statement.executeUpdate();
        }
    }

    private static Item one(Connection connection, long id, boolean positions) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT * FROM items WHERE id = ?")) {
            statement.setLong(1, id);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return item(rows, positions ? new int[] {1, 2, 3, 4, 5, 6} : columns(rows));
            }
        }
    }

    private static int[] columns(ResultSet rows) throws SQLException {
        return new int[] {
            rows.findColumn("id"), rows.findColumn("name"), rows.findColumn("status"), rows.findColumn("created"), rows.findColumn("zip"), rows.findColumn("city_name")
        };
    }

    private static Item item(ResultSet row, int[] columns) throws SQLException {
        String status = row.getString(columns[2]);
        OffsetDateTime created = row.getObject(columns[3], OffsetDateTime.class);
        return new Item(row.getLong(columns[0]), row.getString(columns[1]), status == null ? null : Status.valueOf(status),
                created == null ? null : created.toInstant(), new Item.Address(row.getString(columns[4]), row.getString(columns[5])));
    }
}
