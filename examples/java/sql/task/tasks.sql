-- name: createTasks
-- type: writing
-- usePreparedStatement: false
-- writesReturnUpdateCount: false
-- description: Creates the table.
CREATE TABLE IF NOT EXISTS tasks (
  id     bigint PRIMARY KEY,
  title  varchar(200) NOT NULL,
  status varchar(10) NOT NULL,
  due    date
);

-- name: insertTask
-- parameters:
--   id:
--   title:
--   status: com.example.tasks.Status
--   due:
INSERT INTO tasks (id, title, status, due)
VALUES (:id, :title, :status, :due);

-- name: findTask
-- returning: single
-- resultRowType: com.example.tasks.Task
SELECT id, title, status, due
  FROM tasks
 WHERE id = :id;

-- name: findTasksByIds
-- parameters:
--   ids: List<Long>
-- resultRowType: com.example.tasks.Task
SELECT id, title, status, due
  FROM tasks
 WHERE id IN (:ids)
 ORDER BY id;

-- name: findOpenTasks
-- returning: cursor
-- description: Streams what is still open, the most urgent first.
-- resultRowType: com.example.tasks.Task
SELECT id, title, status, due
  FROM tasks
 WHERE status = 'OPEN'
 ORDER BY due NULLS LAST;

-- name: findCountsByStatus
SELECT status, count(*) AS tasks
  FROM tasks
 GROUP BY status
 ORDER BY status;

-- name: updateTaskStatus
-- parameters:
--   status: com.example.tasks.Status
--   id:
UPDATE tasks SET status = :status WHERE id = :id;
