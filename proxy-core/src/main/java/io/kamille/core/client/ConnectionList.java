package io.kamille.core.client;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Connections in the order in which they came into this list. A connection is in one list at a time
 * and is itself the link: nothing is allocated. Confined to its loop.
 */
@SuppressWarnings("ReferenceEquality") // a connection is itself
final class ConnectionList {

  private @Nullable ListedConnection first;
  private @Nullable ListedConnection last;
  private @Nullable ListedConnection cursor;
  private int size;

  @Nullable ListedConnection first() {
    return first;
  }

  /** Takes {@code connection} from the list it is in, if any, to the end of this one. */
  void append(ListedConnection connection) {
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
    size++;
  }

  /** Whether {@code connection} is in this list. */
  boolean holds(ListedConnection connection) {
    return connection.list == this;
  }

  int size() {
    return size;
  }

  /** Takes {@code connection} from the list it is in, if any. */
  static void remove(ListedConnection connection) {
    if (connection.list != null) {
      connection.list.unlink(connection);
      connection.list = null;
    }
  }

  private void unlink(ListedConnection connection) {
    ListedConnection before = connection.previous;
    ListedConnection behind = connection.next;
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
    size--;
  }

  /** Calls {@code action}, which may move any connection; one that comes meanwhile may be met. */
  void forEach(Consumer<ListedConnection> action) {
    cursor = first;
    while (cursor != null) {
      ListedConnection connection = cursor;
      cursor = connection.next;
      action.accept(connection);
    }
  }
}
