package io.kamille.core.origin.names;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DefaultDnsRecordDecoder;
import io.netty.handler.codec.dns.DnsRawRecord;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.resolver.DefaultHostsFileEntriesResolver;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.dns.DnsNameResolver;
import io.netty.resolver.dns.DnsNameResolverBuilder;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import io.netty.resolver.dns.NoopAuthoritativeDnsServerCache;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.resolver.dns.UnixResolverDnsServerAddressStreamProvider;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks names up in the hosts file and by DNS, as {@code /etc/resolv.conf} says. Any thread; all
 * work is done on its loop.
 */
public final class DnsLookup implements NameLookup {

  /*
   * Each look-up reads both files and asks from a socket of its own, as the resolver of the C
   * library does. So a change of the files holds from the next look-up on, and no answer comes from
   * a cache. Search domains and ndots are those at the start. Without a name server in resolv.conf
   * it asks the one on this host (resolv.conf(5)). Netty answers localhost itself (RFC 6761 §6.3).
   *
   * An answer is valid as long as the record with the least TTL, aliases included (RFC 1034
   * §3.6.2).
   */
  private static final File RESOLV_CONF = new File("/etc/resolv.conf");
  private static final InetSocketAddress ON_THIS_HOST =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 53);
  private static final long LEAST_SECONDS = 1;
  private static final long MOST_SECONDS = 3_600;

  /** How long an answer without TTL is valid: that of the hosts file. */
  private static final Duration WITHOUT_TTL = Duration.ofSeconds(30);

  private final EventLoop loop;
  private final Supplier<DnsServerAddressStreamProvider> servers;
  private final Supplier<HostsFileEntriesResolver> hosts;
  private final @Nullable List<String> searchDomains;

  /**
   * As this system is configured.
   *
   * @param loop one over NIO; stays the caller's
   */
  public DnsLookup(EventLoop loop) {
    this(loop, DnsLookup::serversOfSystem, DefaultHostsFileEntriesResolver::new, null);
  }

  /**
   * With other files.
   *
   * @param searchDomains null for those of the system
   */
  DnsLookup(
      EventLoop loop,
      Supplier<DnsServerAddressStreamProvider> servers,
      Supplier<HostsFileEntriesResolver> hosts,
      @Nullable List<String> searchDomains) {
    this.loop = loop;
    this.servers = servers;
    this.hosts = hosts;
    this.searchDomains = searchDomains;
  }

  private static DnsServerAddressStreamProvider serversOfSystem() {
    try {
      return new UnixResolverDnsServerAddressStreamProvider(RESOLV_CONF);
    } catch (IOException | IllegalArgumentException noneIsNamed) {
      return new SingletonDnsServerAddressStreamProvider(ON_THIS_HOST);
    }
  }

  @Override
  public CompletableFuture<Answer> find(String host) {
    return find(host, searchDomains);
  }

  @Override
  public CompletableFuture<Answer> findFull(String host) {
    return find(host, List.of());
  }

  private CompletableFuture<Answer> find(String host, @Nullable List<String> domains) {
    return ask(
        host,
        domains,
        resolver -> resolver.resolveAll(host),
        (found, ttl) -> new Answer(found, validFor(ttl)));
  }

  @Override
  public CompletableFuture<Services> services(String name) {
    return ask(
        name,
        List.of(),
        resolver -> resolver.resolveAll(new DefaultDnsQuestion(name, DnsRecordType.SRV)),
        DnsLookup::services);
  }

  /**
   * Asks once, on the loop.
   *
   * @param domains to search; null for those of the system
   */
  private <R, A> CompletableFuture<A> ask(
      String name,
      @Nullable List<String> domains,
      Function<DnsNameResolver, Future<List<R>>> question,
      BiFunction<List<R>, LeastTtl, A> reading) {
    CompletableFuture<A> answer = new CompletableFuture<>();
    loop.execute(
        () -> {
          LeastTtl ttl = new LeastTtl();
          try {
            DnsNameResolver resolver = resolver(ttl, domains);
            question
                .apply(resolver)
                .addListener(
                    (Future<List<R>> found) -> {
                      try (resolver) {
                        if (found.isSuccess()) {
                          answer.complete(reading.apply(found.getNow(), ttl));
                        } else {
                          answer.completeExceptionally(unknown(name, found.cause()));
                        }
                      } catch (RuntimeException | Error failed) {
                        answer.completeExceptionally(unknown(name, failed));
                      }
                    });
          } catch (RuntimeException | Error failed) {
            answer.completeExceptionally(unknown(name, failed));
          }
        });
    return answer;
  }

  private static Services services(List<DnsRecord> records, LeastTtl ttl) {
    List<Service> services = new ArrayList<>();
    for (DnsRecord record : records) {
      ttl.note(record.timeToLive());
      Service service = record instanceof DnsRawRecord raw ? service(raw.content()) : null;
      if (service != null) {
        services.add(service);
      }
      ReferenceCountUtil.release(record);
    }
    return new Services(services, validFor(ttl));
  }

  /** Null if it is broken, or says that the service is not there (RFC 2782: a target of "."). */
  private static @Nullable Service service(ByteBuf octets) {
    try {
      int priority = octets.readUnsignedShort();
      int weight = octets.readUnsignedShort();
      int port = octets.readUnsignedShort();
      String target = DefaultDnsRecordDecoder.decodeName(octets);
      return target.equals(".")
          ? null
          : new Service(priority, weight, target.substring(0, target.length() - 1), port);
    } catch (IndexOutOfBoundsException | CorruptedFrameException broken) {
      return null;
    }
  }

  /**
   * One for a look-up.
   *
   * @param domains to search; null for those of the system
   */
  private DnsNameResolver resolver(LeastTtl ttl, @Nullable List<String> domains) {
    DnsNameResolverBuilder builder =
        new DnsNameResolverBuilder(loop)
            .datagramChannelType(NioDatagramChannel.class)
            .socketChannelType(NioSocketChannel.class)
            .nameServerProvider(servers.get())
            .hostsFileEntriesResolver(hosts.get())
            .completeOncePreferredResolved(false)
            .authoritativeDnsServerCache(NoopAuthoritativeDnsServerCache.INSTANCE)
            .resolveCache(ttl)
            .cnameCache(ttl);
    return (domains == null ? builder : builder.searchDomains(domains)).build();
  }

  private static Duration validFor(LeastTtl ttl) {
    return ttl.isKnown()
        ? Duration.ofSeconds(Math.clamp(ttl.seconds(), LEAST_SECONDS, MOST_SECONDS))
        : WITHOUT_TTL;
  }

  private static UnknownHostException unknown(String host, Throwable cause) {
    Throwable root = cause.getCause() == null ? cause : cause.getCause();
    UnknownHostException unknown = new UnknownHostException(host + ": " + root.getMessage());
    unknown.initCause(cause);
    return unknown;
  }
}
