package test.run;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import test.model.Item;
import test.model.Status;

/** What a careful person writes with JDBC: resources are closed, NULL stays null, and columns have names. */
public final class ByHand implements Speed.Rows {
    @Override
    public int count(Connection connection) throws SQLException {
        return all(connection).size();
    }

    static List<Item> all(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT * FROM items ORDER BY id"); ResultSet rows = statement.executeQuery()) {
            int[] columns = columns(rows);
            List<Item> items = new ArrayList<>();
            while (rows.next()) {
                items.add(item(rows, columns));
            }
            return items;
        }
    }

    /** The statement and its rows stay open until the stream is closed. */
    static Stream<Item> stream(Connection connection) throws SQLException {
        PreparedStatement statement = connection.prepareStatement("SELECT * FROM items ORDER BY id");
        statement.setFetchSize(500);
        ResultSet rows = statement.executeQuery();
        int[] columns = columns(rows);
        return StreamSupport.stream(new Spliterators.AbstractSpliterator<Item>(Long.MAX_VALUE, Spliterator.ORDERED) {
            @Override
            public boolean tryAdvance(Consumer<? super Item> action) {
                try {
                    if (!rows.next()) {
                        return false;
                    }
                    action.accept(item(rows, columns));
                    return true;
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }
        }, false).onClose(() -> {
            try {
                rows.close();
                statement.close();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
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

    static Item one(Connection connection, long id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT * FROM items WHERE id = ?")) {
            statement.setLong(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                String status = row.getString("status");
                OffsetDateTime created = row.getObject("created", OffsetDateTime.class);
                return new Item(row.getLong("id"), row.getString("name"), status == null ? null : Status.valueOf(status),
                        created == null ? null : created.toInstant(), new Item.Address(row.getString("zip"), row.getString("city_name")));
            }
        }
    }

    /** Knows the positions of columns, and is wrong when the table gets another one. */
    static Item oneByPosition(Connection connection, long id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT * FROM items WHERE id = ?")) {
            statement.setLong(1, id);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                String status = row.getString(3);
                OffsetDateTime created = row.getObject(4, OffsetDateTime.class);
                return new Item(row.getLong(1), row.getString(2), status == null ? null : Status.valueOf(status),
                        created == null ? null : created.toInstant(), new Item.Address(row.getString(5), row.getString(6)));
            }
        }
    }

    static int update(Connection connection, String name, long id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("UPDATE items SET name = ? WHERE id = ? AND ? > 0")) {
            statement.setString(1, name);
            statement.setLong(2, id);
            statement.setLong(3, id);
            return statement.executeUpdate();
        }
    }

    static int[] updateAll(Connection connection, String[] names, long[] ids) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("UPDATE items SET name = ? WHERE id = ? AND ? > 0")) {
            for (int i = 0; i < ids.length; i++) {
                statement.setString(1, names[i]);
                statement.setLong(2, ids[i]);
                statement.setLong(3, ids[i]);
                statement.addBatch();
            }
            return statement.executeBatch();
        }
    }
}
