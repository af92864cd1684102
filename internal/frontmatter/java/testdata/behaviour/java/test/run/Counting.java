package test.run;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A data source that counts what is open, and fails at a call that is chosen. */
final class Counting implements DataSource {
    final String url;
    final String user;
    final List<String> open = new ArrayList<>();
    int calls;
    int failAt = -1;
    boolean failed;
    String failedAt = "";
    boolean error;
    int autoCommits;
    int connections;
    int finds;
    boolean rollbackFails;
    boolean restoreFails;
    boolean inTransaction; // connections come without autocommit
    final List<String> left = new ArrayList<>(); // connections that are closed without the autocommit they came with

    Counting(String url, String user) {
        this.url = url;
        this.user = user;
    }

    @Override
    public Connection getConnection() throws SQLException {
        count("getConnection");
        connections++;
        Connection connection = DriverManager.getConnection(url, user, "");
        connection.setAutoCommit(!inTransaction);
        return wrap(Connection.class, connection, "connection " + connections);
    }

    private void count(String what) throws SQLException {
        calls++;
        if (calls == failAt) {
            failed = true;
            failedAt = what;
            if (error) {
                throw new StackOverflowError("injected at " + what);
            }
            throw new SQLException("injected at " + what);
        }
    }

    private <T> T wrap(Class<T> type, Object target, String name) {
        boolean counted = !ResultSetMetaData.class.equals(type) && !DatabaseMetaData.class.equals(type);
        if (counted) {
            open.add(name);
        }
        InvocationHandler handler = (proxy, method, args) -> invoke(target, name, method, args);
        return type.cast(Proxy.newProxyInstance(Counting.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private Object invoke(Object target, String name, Method method, Object[] args) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return method.invoke(target, args);
        }
        if (method.getName().equals("close")) {
            open.remove(name);
            if (target instanceof Connection && !((Connection) target).getAutoCommit()) {
                left.add(name);
            }
            try {
                method.invoke(target, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            count("close of " + name);
            return null;
        }
        boolean restores = method.getName().equals("setAutoCommit") && Boolean.TRUE.equals(args[0]);
        if (restores) {
            autoCommits++;
        }
        if (method.getName().equals("findColumn")) {
            finds++;
        }
        if (restoreFails && restores || rollbackFails && method.getName().equals("rollback")) {
            throw new SQLException("injected at " + method.getName());
        }
        count(method.getName());
        Object result;
        try {
            result = method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        if (result instanceof CallableStatement) {
            return wrap(CallableStatement.class, result, "statement " + calls);
        }
        if (result instanceof PreparedStatement) {
            return wrap(PreparedStatement.class, result, "statement " + calls);
        }
        if (result instanceof Statement && method.getName().equals("createStatement")) {
            return wrap(Statement.class, result, "statement " + calls);
        }
        if (result instanceof ResultSet) {
            return wrap(ResultSet.class, result, "result set " + calls);
        }
        if (result instanceof ResultSetMetaData) {
            return wrap(ResultSetMetaData.class, result, "meta data");
        }
        if (result instanceof DatabaseMetaData) {
            return wrap(DatabaseMetaData.class, result, "meta data");
        }
        return result;
    }

    @Override
    public Connection getConnection(String u, String p) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {
    }

    @Override
    public void setLoginTimeout(int seconds) {
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return null;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        return null;
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
