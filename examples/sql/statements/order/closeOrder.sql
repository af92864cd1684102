--@yosql sqlStatementSeparator: //

-- name: createCloseOrder
-- usePreparedStatement: false
-- writesReturnUpdateCount: false
-- description: The body holds semicolons, so that this file ends its statements with //.
CREATE PROCEDURE close_order(IN order_id bigint, OUT closed boolean)
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE orders SET status = 'closed' WHERE id = order_id AND status = 'open';
  closed := found;
END
$$
//
