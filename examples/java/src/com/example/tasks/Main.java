package com.example.tasks;

import java.time.LocalDate;
import java.util.List;
import java.util.stream.Stream;
import org.h2.jdbcx.JdbcDataSource;

public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:mem:tasks;DB_CLOSE_DELAY=-1;DATABASE_TO_UPPER=FALSE");
        TaskRepository tasks = new TaskRepository(dataSource);

        tasks.createTasks();
        tasks.insertTask(1, "Write the statement", Status.OPEN, LocalDate.of(2030, 1, 2));
        tasks.insertTaskBatch(
                new long[] {2, 3},
                new String[] {"Generate the code", "Ship it"},
                new Status[] {Status.OPEN, Status.OPEN},
                new LocalDate[] {LocalDate.of(2030, 1, 1), null});
        tasks.updateTaskStatus(Status.DONE, 1);

        System.out.println(tasks.findTask(1).orElseThrow());
        System.out.println(tasks.findTasksByIds(List.of(1L, 3L)).size() + " by id");
        try (Stream<Task> open = tasks.findOpenTasks()) {
            open.forEach(task -> System.out.println("open: " + task.title()));
        }
        System.out.println(tasks.findCountsByStatus());
    }
}
