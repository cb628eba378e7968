/** Whether the driver says by its text alone that a connection was lost: it gives these errors neither a class nor a code. */
export const isConnectionLost = (error: Error): boolean =>
  /^(Connection terminated|timeout expired$|Query read timeout$|Client (has encountered a connection error|was closed))/.test(
    error.message,
  );
