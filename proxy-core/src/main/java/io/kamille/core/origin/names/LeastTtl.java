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
final class LeastTtl implements DnsCache, DnsCnameCache {

  private static final long UNKNOWN = Long.MAX_VALUE;

  private final Map<String, String> aliases = new HashMap<>();
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
  public @Nullable String get(String host) {
    return aliases.get(host);
  }

  @Override
  public void cache(String host, String alias, long ttlSeconds, EventLoop loop) {
    note(ttlSeconds);
    aliases.put(host, alias);
  }

  @Override
  public void clear() {
    aliases.clear();
  }

  @Override
  public boolean clear(String host) {
    return aliases.remove(host) != null;
  }

  /** What Netty asks a cache to return. */
  private record Entry(@Nullable InetAddress address, @Nullable Throwable cause)
      implements DnsCacheEntry {}
}
