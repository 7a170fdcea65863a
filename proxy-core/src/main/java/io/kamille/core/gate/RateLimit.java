package io.kamille.core.gate;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestCookie;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How often each key, an address or the value of a field or cookie, may ask on one route: the
 * generic cell rate algorithm (ITU-T I.371, Annex A), which is a token bucket without a timer. Any
 * loop.
 */
public final class RateLimit implements RouteGate {

  /*
   * For each key there is one number, the theoretical arrival time: when its bucket is full again.
   * A request is let through if that lies at most burst − 1 intervals ahead, and moves it by one.
   * A key whose time has passed need not be remembered: not knowing it means the same.
   *
   * The table is fixed, 2^16 keys in sets of eight. A key is its hash of 64 bits, which nobody can
   * foresee (AddressBits) and two share by an accident of one in 2^48. Where a set is full of keys
   * that count, the one whose bucket is full soonest yields and is forgotten: who has that many
   * addresses gets more than the rate, and costs no more memory.
   *
   * Loops share it without locks. Where two claim one place at the same moment, or one claims it
   * while the other counts there, a request is counted for the wrong key; no more than that.
   */
  static final int KEYS = 1 << 16;
  private static final int SET = 8;
  private static final long NEVER = Long.MIN_VALUE;

  private final RateLimitSettings settings;
  private final long intervalNanos;
  private final LongSupplier nanoClock;
  private final long startNanos;
  private final RefusalLog log;
  private final LongAdder refused;
  private final AtomicLongArray keys = new AtomicLongArray(KEYS);
  // Nanoseconds since the start plus one interval, so that 0 is long past.
  private final AtomicLongArray arrivals = new AtomicLongArray(KEYS);

  /**
   * A limit that has counted nothing yet.
   *
   * @param route what the log calls it
   * @param refused counts what is over the rate, of other limits too
   * @param shown how the log names clients
   * @param nanoClock monotonic nanoseconds
   */
  public RateLimit(
      RateLimitSettings settings,
      String route,
      LongAdder refused,
      AddressMask shown,
      LongSupplier nanoClock) {
    this.settings = settings;
    intervalNanos = settings.rate().intervalNanos();
    this.refused = refused;
    this.nanoClock = nanoClock;
    startNanos = nanoClock.getAsLong();
    String done = settings.isDryRun() ? "dry run: let through" : "refused";
    String what = " {} request(s) over the rate " + settings.rate() + " of route " + route;
    log = new RefusalLog(done + what, shown, nanoClock);
  }

  /** Whether it limits as these say. */
  public boolean goesBy(RateLimitSettings others) {
    return settings.equals(others);
  }

  @Override
  public @Nullable Failure refusal(Exchange exchange) {
    long wait = waitNanos(key(exchange));
    if (wait <= 0) {
      return null;
    }
    refused.increment();
    log.refused(exchange.client().getAddress(), "");
    if (settings.isDryRun()) {
      return null;
    }
    long seconds = (wait + TimeUnit.SECONDS.toNanos(1) - 1) / TimeUnit.SECONDS.toNanos(1);
    return Failure.busyClient("too many requests of this client", (int) seconds);
  }

  private long key(Exchange exchange) {
    String name = settings.key().name();
    Fields fields = exchange.request().fields();
    if (name != null && settings.key().isCookie()) {
      long cookie = RequestCookie.find(fields, name);
      if (cookie != RequestCookie.NONE) {
        return AddressBits.hash(
            fields.octets(), RequestCookie.start(cookie), RequestCookie.end(cookie));
      }
    } else if (name != null) {
      for (int i = 0; i < fields.size(); i++) {
        if (fields.nameIs(i, name)) {
          return AddressBits.hash(fields.octets(), fields.valueStart(i), fields.valueEnd(i));
        }
      }
    }
    InetAddress address = exchange.client().getAddress();
    return address == null ? 0 : ClientLimits.client(address).longHash();
  }

  /**
   * Counts a request of this key, unless it comes too early.
   *
   * @return 0 or less if it is let through, else nanoseconds until one will be
   */
  long waitNanos(long hash) {
    long now = nanoClock.getAsLong() - startNanos + intervalNanos;
    long key = hash == 0 ? 1 : hash;
    int set = (int) (key >>> 48) % (KEYS / SET) * SET;
    for (int place = set; place < set + SET; place++) {
      if (keys.get(place) == key) {
        return count(place, now);
      }
    }
    claim(key, set, now);
    return 0;
  }

  private long count(int place, long now) {
    long ahead = (settings.burst() - 1L) * intervalNanos;
    long wait = NEVER;
    while (wait == NEVER) {
      long arrival = arrivals.get(place);
      if (arrival - now > ahead) {
        wait = arrival - now - ahead;
      } else if (arrivals.compareAndSet(place, arrival, Math.max(arrival, now) + intervalNanos)) {
        wait = 0;
      }
    }
    return wait;
  }

  /** Begins to count a key, in the place of the one that is past, or full again, soonest. */
  private void claim(long key, int set, long now) {
    int place = set;
    for (int other = set + 1; other < set + SET; other++) {
      if (arrivals.get(other) < arrivals.get(place)) {
        place = other;
      }
    }
    keys.set(place, key);
    arrivals.set(place, now + intervalNanos);
  }
}
