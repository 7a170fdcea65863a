package io.kamille.core.tls;

import static java.util.Comparator.naturalOrder;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The TLS of one listener: certificates by server name, replaced whole while connections go on. Any
 * thread.
 */
public final class ServerTls implements AutoCloseable {

  /*
   * The table is immutable and swapped whole. A context whose certificates and policy stay is
   * carried over; one that goes is retired, and lives until its last connection has ended.
   *
   * Few contexts are built at once, so that a certificate that is refused is known at start and the
   * first client does not wait. Of thousands, each is built by the first handshake that needs it,
   * beside the loops.
   */
  private static final int BUILT_AT_ONCE = 64;

  private record Table(ServerNames<ServerContext> names, Set<ServerContext> contexts) {}

  /** A context under which a handshake may begin. Who gets it calls {@link #release} once. */
  public record Choice(ServerContext server, SslContext context) {

    /** Lets go of the context: engines that were made of it keep it. */
    public void release() {
      ReferenceCountUtil.release(context);
    }
  }

  private final Executor workers;
  private final HandshakeCounters counters = new HandshakeCounters();
  private final SecureRandom random = new SecureRandom();
  private volatile Table table;
  private volatile TicketKeys keys = TicketKeys.fresh(random);

  @GuardedBy("this")
  private @Nullable TicketSecret shared;

  @GuardedBy("this")
  private InstantSource clock = InstantSource.system();

  @GuardedBy("this")
  private TlsPolicy policy;

  @GuardedBy("this")
  private List<ServerCertificate> certificates;

  private ServerTls(
      TlsPolicy policy, List<ServerCertificate> certificates, Executor workers, Table table) {
    this.policy = policy;
    this.certificates = certificates;
    this.workers = workers;
    this.table = table;
  }

  /**
   * TLS by these certificates, the first of which is for clients that name no server, or one that
   * no certificate is for.
   *
   * @param workers build contexts and sign with slow keys, beside the loops
   * @throws IOException with one sentence, if a certificate or its key is refused
   */
  public static ServerTls open(
      TlsPolicy policy, List<ServerCertificate> certificates, Executor workers) throws IOException {
    var tls = new ServerTls(policy, certificates, workers, table(policy, certificates, Map.of()));
    try {
      tls.buildSome(tls.table);
    } catch (IOException refused) {
      tls.close();
      throw refused;
    }
    return tls;
  }

  /**
   * Builds what {@link #open} would build, and lets go of it.
   *
   * @throws IOException with one sentence, if a certificate or its key is refused
   */
  public static void check(TlsPolicy policy, List<ServerCertificate> certificates)
      throws IOException {
    open(policy, certificates, Runnable::run).close();
  }

  /**
   * Puts other certificates in force, for handshakes from now on. Not on a loop.
   *
   * @return false if nothing has changed
   * @throws IOException with one sentence; then all stays as it was
   */
  public synchronized boolean update(TlsPolicy policy, List<ServerCertificate> certificates)
      throws IOException {
    if (policy.equals(this.policy) && certificates.equals(this.certificates)) {
      return false;
    }
    boolean samePolicy = policy.equals(this.policy);
    Map<List<ServerCertificate>, ServerContext> kept = new HashMap<>();
    Table before = table;
    if (samePolicy) {
      before.contexts().forEach(context -> kept.put(context.certificates(), context));
    }
    Table next = table(policy, certificates, kept);
    try {
      buildSome(next);
    } catch (IOException refused) {
      retire(next, before);
      throw refused;
    }
    boolean sameClients = policy.clients().equals(this.policy.clients());
    this.policy = policy;
    this.certificates = certificates;
    if (!sameClients) {
      keys(shared == null ? TicketKeys.fresh(random) : shared(shared), next);
    }
    table = next;
    retire(before, next);
    return true;
  }

  private static void retire(Table gone, Table stays) {
    for (ServerContext context : gone.contexts()) {
      if (!stays.contexts().contains(context)) {
        context.retire();
      }
    }
  }

  /** How its handshakes ended. */
  public HandshakeCounters counters() {
    return counters;
  }

  /** The certificates in force. */
  public synchronized List<ServerCertificate> certificates() {
    return certificates;
  }

  /** The certificate that a handshake for that name shows; of several, the first. */
  public ServerCertificate shown(String name) {
    return table.names().find(name).certificates().getFirst();
  }

  /** When the first of its certificates expires. */
  public Instant expires() {
    return certificates().stream()
        .map(ServerCertificate::notAfter)
        .min(naturalOrder())
        .orElseThrow();
  }

  private void buildSome(Table table) throws IOException {
    ServerContext first = table.names().find(null);
    first.build(() -> keys);
    if (table.contexts().size() <= BUILT_AT_ONCE) {
      for (ServerContext context : table.contexts()) {
        context.build(() -> keys);
      }
    }
  }

  private static Table table(
      TlsPolicy policy,
      List<ServerCertificate> certificates,
      Map<List<ServerCertificate>, ServerContext> kept) {
    if (certificates.isEmpty()) {
      throw new IllegalArgumentException("certificates: none (expected: at least one)");
    }
    Map<String, List<ServerCertificate>> byName = new LinkedHashMap<>();
    for (ServerCertificate certificate : certificates) {
      for (String name : certificate.names()) {
        byName.computeIfAbsent(name, _ -> new ArrayList<>()).add(certificate);
      }
    }
    Map<List<ServerCertificate>, ServerContext> contexts = new HashMap<>();
    Map<String, ServerContext> names = new HashMap<>();
    byName.forEach((name, some) -> names.put(name, context(some, policy, kept, contexts)));
    ServerCertificate first = certificates.getFirst();
    List<ServerCertificate> ofFirst =
        first.names().stream().findFirst().map(byName::get).orElse(List.of(first));
    ServerContext byDefault = context(ofFirst, policy, kept, contexts);
    Set<ServerContext> all = new LinkedHashSet<>();
    all.add(byDefault);
    all.addAll(contexts.values());
    return new Table(new ServerNames<>(names, byDefault), all);
  }

  private static ServerContext context(
      List<ServerCertificate> certificates,
      TlsPolicy policy,
      Map<List<ServerCertificate>, ServerContext> kept,
      Map<List<ServerCertificate>, ServerContext> contexts) {
    return contexts.computeIfAbsent(
        certificates, some -> kept.getOrDefault(some, new ServerContext(some, policy)));
  }

  /**
   * Chooses for a handshake, at once or after a moment beside the loops.
   *
   * @param name the server's, in lower case; null if the client named none
   * @param promise of the loop; gets the choice, which its taker releases
   */
  public Promise<Choice> choose(@Nullable String name, Promise<Choice> promise) {
    ServerContext server = table.names().find(name);
    SslContext context = server.acquire();
    if (context != null) {
      return promise.setSuccess(new Choice(server, context));
    }
    try {
      workers.execute(() -> buildAndChoose(name, promise));
    } catch (RejectedExecutionException tooMany) {
      promise.setFailure(tooMany);
    }
    return promise;
  }

  private void buildAndChoose(@Nullable String name, Promise<Choice> promise) {
    try {
      while (true) {
        ServerContext server = table.names().find(name);
        if (!server.build(() -> keys) && server == table.names().find(name)) {
          throw new IOException("the listener is closed");
        }
        SslContext context = server.acquire();
        if (context != null) {
          if (!promise.trySuccess(new Choice(server, context))) {
            ReferenceCountUtil.release(context);
          }
          return;
        }
      }
    } catch (IOException | RuntimeException failed) {
      promise.tryFailure(failed);
    }
  }

  /** A handler for a connection under this choice, which stays the caller's. */
  public SslHandler handler(Choice choice, ByteBufAllocator allocator) {
    return choice.server().handler(choice.context(), allocator, workers);
  }

  /**
   * Whether a request for this host, in lower case, belongs on another connection than one under
   * {@code server}: another certificate is for it, and that one's is not (RFC 9110 §15.5.20).
   */
  public boolean isMisdirected(ServerContext server, String host) {
    return !server.covers(host) && table.names().find(host).covers(host);
  }

  /** Makes tickets by a fresh key from now on, or by that of this time. */
  public synchronized void rotateTicketKeys() {
    keys(shared == null ? keys.rotated(random) : shared(shared), table);
  }

  /** Makes tickets, and takes them, by keys that all have who know the secret. */
  public synchronized void shareTickets(TicketSecret secret, InstantSource clock) {
    this.shared = secret;
    this.clock = clock;
    keys(shared(secret), table);
  }

  @GuardedBy("this")
  private TicketKeys shared(TicketSecret secret) {
    return TicketKeys.shared(secret, sessionContext(), clock.instant());
  }

  @GuardedBy("this")
  private void keys(TicketKeys next, Table of) {
    keys = next;
    of.contexts().forEach(context -> context.keys(next));
  }

  /**
   * The ticket keys, and under which policy for clients' certificates, for the process that comes
   * after us. A secret.
   */
  public synchronized String ticketKeys() {
    return sessionContext() + ' ' + keys.words();
  }

  /**
   * Takes the tickets that another process made, and makes new ones by a fresh key. Does nothing if
   * that one asked clients for other certificates, or if keys are shared.
   *
   * @param words what {@link #ticketKeys} said there
   * @throws IllegalArgumentException if it says something else; nothing has changed then
   */
  public synchronized void takeTickets(String words) {
    int space = words.indexOf(' ');
    TicketKeys others = TicketKeys.of(words.substring(space + 1));
    if (space >= 0 && shared == null && words.substring(0, space).equals(sessionContext())) {
      keys(others.rotated(random), table);
    }
  }

  @GuardedBy("this")
  private String sessionContext() {
    return HexFormat.of().formatHex(policy.clients().sessionContext());
  }

  /** Lets go of all contexts; handshakes from now on fail. */
  @Override
  public synchronized void close() {
    table.contexts().forEach(ServerContext::retire);
  }
}
