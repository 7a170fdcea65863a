package io.kamille.launcher.appliance;

import io.kamille.admin.AdminSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import io.kamille.core.tls.TlsPolicy;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.Source;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The TLS of all listeners and of the control plane, its workers, and what has it read certificates
 * again. Any thread; one reload at a time.
 */
final class TlsListeners implements AutoCloseable {

  /*
   * Files are looked at every ten seconds: a certificate is exchanged by whatever writes files, and
   * nothing has to tell us. One that cannot be used changes nothing and is said once.
   */
  private static final System.Logger LOG = System.getLogger("kamille.tls");
  private static final int WORKERS = 2;
  private static final long LOOK_SECONDS = 10;
  private static final long ROTATION_HOURS = 8;
  private static final Duration WARNING = Duration.ofDays(14);

  /** Whose TLS it is, and what is spoken inside, in the words of ALPN. */
  private record Endpoint(String name, TlsSettings tls, List<String> protocols) {

    static Endpoint of(ListenerSettings listener) {
      return new Endpoint(listener.name(), listener.tls(), listener.spoken().names());
    }

    /** Under a name that no listener can have. */
    static Endpoint of(AdminSettings admin) {
      return new Endpoint("admin API", admin.tls(), List.of("http/1.1"));
    }

    TlsPolicy policy() throws IOException {
      return tls.policy(protocols);
    }
  }

  private record Open(Endpoint endpoint, ServerTls tls) {}

  private final Map<String, Open> open = new HashMap<>();
  private final Map<String, String> tickets = new HashMap<>();
  private final Map<Path, FileTime> seen = new HashMap<>();
  private final ScheduledThreadPoolExecutor workers =
      new ScheduledThreadPoolExecutor(
          WORKERS, Thread.ofPlatform().name("kamille-tls").daemon().factory());

  TlsListeners() {
    workers.scheduleWithFixedDelay(this::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    workers.scheduleWithFixedDelay(this::warn, 1, 1, TimeUnit.DAYS);
    workers.scheduleWithFixedDelay(this::rotate, ROTATION_HOURS, ROTATION_HOURS, TimeUnit.HOURS);
  }

  /**
   * The TLS of a listener, which stays ours; null if it speaks none.
   *
   * @throws StartFailure if its certificates cannot be used
   */
  @Nullable ServerTls open(ListenerSettings settings) throws StartFailure {
    return open(Endpoint.of(settings));
  }

  /** The same for the control plane. */
  @Nullable ServerTls open(AdminSettings settings) throws StartFailure {
    return open(Endpoint.of(settings));
  }

  private synchronized @Nullable ServerTls open(Endpoint settings) throws StartFailure {
    if (!settings.tls().isOn()) {
      return null;
    }
    if (!ServerContext.isNative() && open.isEmpty()) {
      LOG.log(
          Level.WARNING,
          "BoringSSL does not load here: the JDK's TLS stands in, which takes more CPU");
    }
    try {
      List<ServerCertificate> certificates = settings.tls().read(Instant.now());
      ServerTls tls = ServerTls.open(settings.policy(), certificates, workers);
      takeTickets(settings.name(), tls);
      open.put(settings.name(), new Open(settings, tls));
      remember(settings);
      LOG.log(Level.INFO, "{0}: TLS by {1}", settings.name(), certificates);
      warn(open.get(settings.name()), Instant.now());
      return tls;
    } catch (IOException refused) {
      throw new StartFailure(StartFailure.Kind.FILE, String.valueOf(refused.getMessage()));
    }
  }

  /** Goes by the certificates of these settings, for handshakes from now on. */
  synchronized void reload(List<ListenerSettings> listeners, AdminSettings admin) {
    listeners.forEach(listener -> reload(Endpoint.of(listener)));
    reload(Endpoint.of(admin));
  }

  private void reload(Endpoint settings) {
    Open before = open.get(settings.name());
    if (before != null && settings.tls().isOn()) {
      Open next = new Open(settings, before.tls());
      open.put(settings.name(), next);
      update(next);
    }
  }

  private void update(Open listener) {
    Endpoint settings = listener.endpoint();
    remember(settings);
    try {
      List<ServerCertificate> certificates =
          settings.tls().source() == Source.SELF_SIGNED
              ? listener.tls().certificates()
              : settings.tls().read(Instant.now());
      if (listener.tls().update(settings.policy(), certificates)) {
        LOG.log(Level.INFO, "{0}: TLS by {1} from now on", settings.name(), certificates);
        warn(listener, Instant.now());
      }
    } catch (IOException refused) {
      LOG.log(
          Level.ERROR,
          "{0}: its certificates stay as they were: {1}",
          settings.name(),
          refused.getMessage());
    }
  }

  private synchronized void warn() {
    open.values().forEach(listener -> warn(listener, Instant.now()));
  }

  /** Of certificates that expire soon; one made for trying lasts longer than the trial. */
  private static void warn(Open listener, Instant now) {
    for (ServerCertificate certificate : listener.tls().certificates()) {
      if (listener.endpoint().tls().source() == Source.FILES
          && certificate.notAfter().isBefore(now.plus(WARNING))) {
        LOG.log(
            Level.WARNING,
            "{0}: a certificate expires soon or has expired; renew {1}",
            listener.endpoint().name(),
            certificate);
      }
    }
  }

  /** The ticket keys of each endpoint by its name, for the process that comes after us. */
  synchronized Map<String, String> ticketKeys() {
    Map<String, String> keys = new HashMap<>();
    open.forEach((name, listener) -> keys.put(name, listener.tls().ticketKeys()));
    return keys;
  }

  /** Takes the tickets that another process made, at each endpoint that opens from now on. */
  synchronized void takeTickets(Map<String, String> keys) {
    tickets.putAll(keys);
  }

  private void takeTickets(String name, ServerTls tls) {
    String keys = tickets.remove(name);
    if (keys != null) {
      try {
        tls.takeTickets(keys);
      } catch (IllegalArgumentException unknown) {
        LOG.log(Level.WARNING, "{0}: tickets of the process before us are not taken", name);
      }
    }
  }

  /** When the first certificate of a listener expires; null if it speaks no TLS. */
  synchronized @Nullable String expires(String name) {
    Open listener = open.get(name);
    return listener == null ? null : listener.tls().expires().toString();
  }

  /** Reads again what has changed. */
  private synchronized void look() {
    try {
      for (Open listener : new ArrayList<>(open.values())) {
        boolean changed =
            files(listener.endpoint()).stream()
                .anyMatch(file -> !timeOf(file).equals(seen.get(file)));
        if (changed) {
          update(listener);
        }
      }
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "certificates were not looked at", bug);
    }
  }

  private void remember(Endpoint settings) {
    files(settings).forEach(file -> seen.put(file, timeOf(file)));
  }

  private static List<Path> files(Endpoint settings) {
    List<Path> files = new ArrayList<>();
    settings
        .tls()
        .certificates()
        .forEach(
            certificate -> {
              files.add(certificate.chain());
              files.add(certificate.key());
            });
    Path authorities = settings.tls().clientAuthorities();
    if (authorities != null) {
      files.add(authorities);
    }
    return files;
  }

  private static FileTime timeOf(Path file) {
    try {
      return Files.getLastModifiedTime(file);
    } catch (IOException gone) {
      return FileTime.fromMillis(0);
    }
  }

  private synchronized void rotate() {
    open.values().forEach(listener -> listener.tls().rotateTicketKeys());
  }

  @Override
  public synchronized void close() {
    workers.shutdownNow();
    open.values().forEach(listener -> listener.tls().close());
    open.clear();
  }
}
