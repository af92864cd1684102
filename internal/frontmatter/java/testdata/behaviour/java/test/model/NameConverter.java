package test.model;

import java.sql.ResultSet;
import java.sql.SQLException;

public class NameConverter {
    public String asName(ResultSet row) throws SQLException {
        return "<" + row.getString(1) + ">";
    }
}
