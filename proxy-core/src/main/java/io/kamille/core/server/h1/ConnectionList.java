package io.kamille.core.server.h1;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connections in the order in which they came into this list. A connection is in one list at a time
 * and is itself the link: nothing is allocated. Confined to its loop.
 */
final class ConnectionList {

  private @Nullable ClientConnection first;
  private @Nullable ClientConnection last;
  private @Nullable ClientConnection cursor;

  @Nullable ClientConnection first() {
    return first;
  }

  /** Takes {@code connection} from the list it is in, if any, to the end of this one. */
  void append(ClientConnection connection) {
    if (connection == last) {
      return;
    }
    remove(connection);
    connection.list = this;
    connection.previous = last;
    if (last == null) {
      first = connection;
    } else {
      last.next = connection;
    }
    last = connection;
  }

  /** Takes {@code connection} from the list it is in, if any. */
  static void remove(ClientConnection connection) {
    if (connection.list != null) {
      connection.list.unlink(connection);
      connection.list = null;
    }
  }

  private void unlink(ClientConnection connection) {
    ClientConnection before = connection.previous;
    ClientConnection behind = connection.next;
    if (cursor == connection) {
      cursor = behind;
    }
    if (before == null) {
      first = behind;
    } else {
      before.next = behind;
    }
    if (behind == null) {
      last = before;
    } else {
      behind.previous = before;
    }
    connection.previous = null;
    connection.next = null;
  }

  /** Calls {@code action}, which may move any connection; one that comes meanwhile may be met. */
  void forEach(Consumer<ClientConnection> action) {
    cursor = first;
    while (cursor != null) {
      ClientConnection connection = cursor;
      cursor = connection.next;
      action.accept(connection);
    }
  }
}
