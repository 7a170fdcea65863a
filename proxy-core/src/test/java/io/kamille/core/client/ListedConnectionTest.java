package io.kamille.core.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Connections in their order, and walks over them that change them. */
@SuppressWarnings("ReferenceEquality") // a connection is itself
class ListedConnectionTest {

  private final ListedConnection.Line list = new ListedConnection.Line();
  private final ListedConnection.Line other = new ListedConnection.Line();
  private final List<ListedConnection> all =
      Stream.<ListedConnection>generate(Listed::new).limit(5).toList();
  private final List<ListedConnection> met = new ArrayList<>();

  ListedConnectionTest() {
    all.forEach(list::append);
  }

  @Test
  void theyAreCounted() {
    assertThat(list.size()).isEqualTo(5);
    other.append(all.get(2));
    list.append(all.get(0));
    ListedConnection.Line.remove(all.get(1));
    assertThat(list.size()).isEqualTo(3);
    assertThat(other.size()).isEqualTo(1);
    assertThat(other.holds(all.get(2))).isTrue();
    assertThat(list.holds(all.get(2))).isFalse();
  }

  @Test
  void anActionMayRemoveItsOwn() {
    list.forEach(
        connection -> {
          met.add(connection);
          ListedConnection.Line.remove(connection);
        });
    assertThat(met).isEqualTo(all);
    assertThat(list.first()).isNull();
  }

  @Test
  void anActionMayRemoveTheNextAndTheOthersAreStillMet() {
    list.forEach(
        connection -> {
          met.add(connection);
          if (connection == all.get(0)) {
            ListedConnection.Line.remove(all.get(1));
            ListedConnection.Line.remove(all.get(2));
          }
        });
    assertThat(met).containsExactly(all.get(0), all.get(3), all.get(4));
  }

  @Test
  void anActionMayMoveTheNextToAnotherList() {
    list.forEach(
        connection -> {
          met.add(connection);
          if (connection == all.get(0)) {
            other.append(all.get(1));
          }
        });
    assertThat(met).containsExactly(all.get(0), all.get(2), all.get(3), all.get(4));
    assertThat(other.first()).isSameAs(all.get(1));
  }

  @Test
  void anActionMayRemoveAllTheOthers() {
    list.forEach(
        connection -> {
          met.add(connection);
          all.subList(1, 5).forEach(ListedConnection.Line::remove);
        });
    assertThat(met).containsExactly(all.get(0));
    assertThat(list.first()).isSameAs(all.get(0));
  }

  /** One that does nothing but stand in a list. */
  private static final class Listed extends ListedConnection {

    @Override
    protected void checkDeadline() {}

    @Override
    protected void endBy(Throwable bug) {}

    @Override
    protected void refuseHead(Failure why) {}

    @Override
    protected void drain() {}

    @Override
    protected void close() {}

    @Override
    protected boolean endIfIdle() {
      return false;
    }

    @Override
    protected boolean closeIfIdle() {
      return false;
    }

    @Override
    protected boolean closeIfAllIsAcknowledged() {
      return false;
    }
  }
}
