package io.kamille.core.origin.dial;

import io.kamille.core.exchange.Failure;
import io.kamille.core.origin.Origin;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tries the addresses of an origin until one is open, each a moment after the one before (RFC 8305
 * §5). Confined to its loop.
 */
final class AddressRace {

  /** The Connection Attempt Delay of RFC 8305 §8. */
  static final int HEAD_START_MILLIS = 250;

  /** One attempt. Tells the race once whether it {@link #opened} or {@link #failed}. */
  interface Runner {

    InetSocketAddress address();

    void start();

    /** Another one is open: this one is closed, and tells no more. */
    void abandon();
  }

  /** Does something once the head start is over, unless the result is run before. */
  @FunctionalInterface
  interface Timer {
    Runnable after(int millis, Runnable action);
  }

  private final Origin origin;
  private final Deque<InetSocketAddress> left;
  private final BiFunction<AddressRace, InetSocketAddress, Runner> runners;
  private final Timer timer;
  private final Consumer<Failure> lost;
  private final List<Runner> running = new ArrayList<>(2);
  private @Nullable Runnable cancel;

  /**
   * A race.
   *
   * @param addresses at least one, in the order in which they are tried; the race takes them out
   * @param runners make an attempt
   * @param lost gets the last failure once no address is left
   */
  AddressRace(
      Origin origin,
      Deque<InetSocketAddress> addresses,
      BiFunction<AddressRace, InetSocketAddress, Runner> runners,
      Timer timer,
      Consumer<Failure> lost) {
    this.origin = origin;
    this.left = addresses;
    this.runners = runners;
    this.timer = timer;
    this.lost = lost;
  }

  /** Starts the next attempt. There has to be an address left. */
  void next() {
    stopTimer();
    Runner runner = runners.apply(this, left.remove());
    running.add(runner);
    if (!left.isEmpty()) {
      cancel = timer.after(HEAD_START_MILLIS, this::next);
    }
    runner.start();
  }

  /**
   * This attempt has a connection. Those that began before it are passed over from now on. All
   * others end, and are tried again should the winner fail in its handshake.
   */
  void opened(Runner winner) {
    stopTimer();
    int place = running.indexOf(winner);
    List<Runner> others = new ArrayList<>(running);
    others.remove(place);
    running.retainAll(List.of(winner));
    for (int i = 0; i < others.size(); i++) {
      Runner other = others.get(i);
      if (i < place) {
        origin.passOver(other.address());
      }
      left.addLast(other.address());
      other.abandon();
    }
  }

  /** This attempt came to nothing, before it was open or after. The next one starts at once. */
  void failed(Runner runner, Failure why) {
    origin.passOver(runner.address());
    over(runner, why);
  }

  /** Our own trouble ended this attempt: no other address would do better. */
  void failedByUs(Runner runner, Failure why) {
    stopTimer();
    left.clear();
    over(runner, why);
  }

  private void over(Runner runner, Failure why) {
    running.remove(runner);
    if (!left.isEmpty()) {
      next();
    } else if (running.isEmpty()) {
      lost.accept(why);
    }
  }

  private void stopTimer() {
    if (cancel != null) {
      cancel.run();
      cancel = null;
    }
  }
}
