package io.kamille.core.log;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.Topics;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** What is asked for most on one loop. Written on its loop; read on any thread. */
public final class LoopTop implements ExchangeObserver {

  /*
   * Up to 256 exchanges a second are counted, each for all of the second before that it stands for:
   * with few requests all count, with many a hit costs a countdown. The countdown varies at random,
   * so that what comes in turns is not missed. Counts lose half of their weight every ten minutes.
   */
  private static final int PER_SECOND = 256;

  /** So many tags of a response count, which then stand for all it has. */
  private static final int MOST_TAGS = 32;

  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final long HALF_LIFE = Duration.ofMinutes(10).toNanos();
  private static final Ranking[] KINDS = Ranking.values();
  private static final byte[] HTTP = {'h', 't', 't', 'p', ':', '/', '/'};
  private static final byte[] HTTPS = {'h', 't', 't', 'p', 's', ':', '/', '/'};
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** What is counted. */
  public enum Ranking {
    URLS,
    /** URLs that missed the cache. Requests that bypass it are none. */
    MISSES,
    /** Tags of responses from the store. */
    TAGS,
    CLIENTS
  }

  private final AddressMask shown;
  private final TopKeys urls = new TopKeys();
  private final TopKeys misses = new TopKeys();
  private final TopKeys tags = new TopKeys();
  private final TopKeys clients = new TopKeys();
  private final SplittableRandom random = new SplittableRandom(1);
  private final byte[] scratch = new byte[TopKeys.LENGTH_LIMIT];
  private boolean hasWindow;
  private long windowNanos;
  private long fadedNanos;
  private long inWindow;
  private long interval = 1;
  private long left = 1;

  /** Nothing is counted yet. */
  public LoopTop(AddressMask shown) {
    this.shown = shown;
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    inWindow++;
    if (--left > 0) {
      return;
    }
    count(exchange, endNanos);
    left = random.nextLong(1, 2 * interval);
  }

  private void count(Exchange exchange, long now) {
    if (!hasWindow || now - windowNanos >= SECOND) {
      long seconds = hasWindow ? Math.max(1, (now - windowNanos) / SECOND) : 1;
      interval = Math.max(1, inWindow / seconds / PER_SECOND);
      fadedNanos = hasWindow ? fadedNanos : now;
      windowNanos = now;
      inWindow = 0;
      hasWindow = true;
    }
    for (; now - fadedNanos >= HALF_LIFE; fadedNanos += HALF_LIFE) {
      for (Ranking kind : KINDS) {
        of(kind).fade();
      }
    }
    ExchangeNotes notes = exchange.notes();
    int length = url(exchange.request());
    if (length > 0) {
      urls.add(scratch, length, interval);
      if (notes.cache() == CacheResult.MISS) {
        misses.add(scratch, length, interval);
      }
    }
    addTags(notes.topics());
    addClient(exchange.client().getAddress());
  }

  /** Writes the URL; 0 if it is too long, or none. */
  private int url(RequestHead request) {
    byte[] scheme = request.isSecure() ? HTTPS : HTTP;
    byte[] octets = request.octets();
    int authority = request.authorityEnd() - request.authorityStart();
    int target = request.targetEnd() - request.pathStart();
    int length = scheme.length + authority + target;
    if (authority <= 0 || target <= 0 || length > scratch.length) {
      return 0;
    }
    System.arraycopy(scheme, 0, scratch, 0, scheme.length);
    System.arraycopy(octets, request.authorityStart(), scratch, scheme.length, authority);
    System.arraycopy(octets, request.pathStart(), scratch, scheme.length + authority, target);
    return length;
  }

  private void addTags(@Nullable Topics topics) {
    int size = topics == null ? 0 : topics.size();
    int taken = Math.min(size, MOST_TAGS);
    int from = taken < size ? random.nextInt(size) : 0;
    for (int i = 0; topics != null && i < taken; i++) {
      LONG.set(scratch, 0, topics.at((from + i) % size));
      tags.add(scratch, Long.BYTES, interval * size / taken);
    }
  }

  private void addClient(@Nullable InetAddress client) {
    if (client != null) {
      byte[] address = client.getAddress();
      shown.hide(address, address.length, address.length);
      clients.add(address, address.length, interval);
    }
  }

  private TopKeys of(Ranking kind) {
    return switch (kind) {
      case URLS -> urls;
      case MISSES -> misses;
      case TAGS -> tags;
      case CLIENTS -> clients;
    };
  }

  /** Adds what was counted to {@code counts}, by its octets, one per character. Any thread. */
  public void addTo(Map<String, Long> counts, Ranking kind) {
    of(kind)
        .forEach((key, count) -> counts.merge(Octets.text(key, 0, key.length), count, Long::sum));
  }
}
