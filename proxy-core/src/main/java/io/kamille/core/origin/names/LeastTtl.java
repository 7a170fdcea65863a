package io.kamille.core.origin.names;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import io.netty.resolver.dns.DnsCnameCache;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The least TTL of the records that one look-up meets, in seconds. It stands where Netty has its
 * cache, and remembers nothing but aliases of this look-up. Confined to its loop.
 */
final class LeastTtl implements DnsCache {

  private static final long UNKNOWN = Long.MAX_VALUE;

  private long seconds = UNKNOWN;

  boolean isKnown() {
    return seconds != UNKNOWN;
  }

  long seconds() {
    return seconds;
  }

  void note(long ttlSeconds) {
    seconds = Math.min(seconds, ttlSeconds);
  }

  /** Where the aliases of the same look-up go. */
  DnsCnameCache aliases() {
    return new Aliases();
  }

  @Override
  public @Nullable List<? extends DnsCacheEntry> get(String host, DnsRecord[] additionals) {
    return null;
  }

  @Override
  public DnsCacheEntry cache(
      String host, DnsRecord[] additionals, InetAddress address, long ttlSeconds, EventLoop loop) {
    note(ttlSeconds);
    return new Entry(address, null);
  }

  @Override
  public DnsCacheEntry cache(
      String host, DnsRecord[] additionals, Throwable cause, EventLoop loop) {
    return new Entry(null, cause);
  }

  @Override
  public void clear() {}

  @Override
  public boolean clear(String host) {
    return false;
  }

  /** What Netty asks a cache to return. */
  private record Entry(@Nullable InetAddress address, @Nullable Throwable cause)
      implements DnsCacheEntry {}

  private final class Aliases implements DnsCnameCache {

    private final Map<String, String> names = new HashMap<>();

    @Override
    public @Nullable String get(String host) {
      return names.get(host);
    }

    @Override
    public void cache(String host, String alias, long ttlSeconds, EventLoop loop) {
      note(ttlSeconds);
      names.put(host, alias);
    }

    @Override
    public void clear() {
      names.clear();
    }

    @Override
    public boolean clear(String host) {
      return names.remove(host) != null;
    }
  }
}
