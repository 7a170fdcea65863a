package io.kamille.launcher.configuration;

import io.kamille.admin.AdminSettings;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.cache.settings.SharedCacheSettings;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.client.open.LimitSettings;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.gate.OverloadSettings;
import io.kamille.core.log.LogSettings;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.origin.send.SpoolSettings;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SettingChange;
import io.kamille.core.setting.SettingChanges;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import io.kamille.core.tls.OriginTlsSettings;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import io.kamille.core.tls.TlsSettings.Source;
import io.kamille.core.trace.TraceSettings;
import io.kamille.launcher.acme.AcmeSettings;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Everything an operator decides, read and checked. Immutable.
 *
 * @param loops how many event loops run
 * @param upstreams by their names, in the order of the file
 * @param routes in the order of the file, which has no meaning; host and path together are unique
 * @param tests what must come of requests
 * @param acme whom certificates are ordered from
 * @param cluster which nodes are one cache
 * @param hostSockets where the helper listens that sockets come from; null if they are made here
 * @param include files with more settings
 * @param values what was read, with its places in the file
 */
public record Configuration(
    List<ListenerSettings> listeners,
    int loops,
    PaceSettings engine,
    Map<String, UpstreamGroup> upstreams,
    List<RouteSettings> routes,
    SharedCacheSettings cache,
    LimitSettings limits,
    OverloadSettings overload,
    TuningSettings tuning,
    ForwardingSettings forwarding,
    SpoolSettings spool,
    LogSettings log,
    TraceSettings tracing,
    AdminSettings admin,
    List<RequestTest> tests,
    AcmeSettings acme,
    ClusterSettings cluster,
    @Nullable Path hostSockets,
    List<String> include,
    SectionValues values) {

  static final Subsection<ListenerSettings> LISTENERS =
      ListenerSettings.SECTION
          .list(
              "listeners",
              "The addresses that clients connect to. A bare address stands for a listener with"
                  + " nothing else set.")
          .withShorthand(ListenerSettings.ADDRESS)
          .atLeastOne("at least one listener");

  static final Setting<Integer> LOOPS =
      Setting.of(
              "loops",
              ValueTypes.wholeNumber(1, 1_024),
              "Event loops, each on a thread of its own. One per processor serves most machines"
                  + " best.")
          .defaultsTo(
              "the number of processors", values -> Runtime.getRuntime().availableProcessors())
          .appliesOnRestart();

  static final Subsection<PaceSettings> ENGINE =
      PaceSettings.SECTION.one("engine", "How the event loops turn.");

  static final Subsection<UpstreamGroup> UPSTREAMS =
      UpstreamGroup.SECTION.named(
          "upstreams",
          "Groups of origin servers under names of your choice; routes forward to them by"
              + " name.");

  static final Subsection<RouteSettings> ROUTES =
      RouteSettings.SECTION
          .list(
              "routes",
              "Which requests go to which upstream. The most specific route wins, wherever it"
                  + " stands in the list: first by host, then by path.")
          .atLeastOne("at least one route");

  static final Subsection<SharedCacheSettings> CACHE =
      SharedCacheSettings.SECTION.one("cache", "The cache that all routes share.");

  static final Subsection<LogSettings> LOGS =
      LogSettings.SECTION.one("log", "Logs of requests and of Kamille itself.");

  static final Subsection<SpoolSettings> SPOOL =
      SpoolSettings.SECTION.one(
          "spool",
          "Files for uploads and responses that wait; see [origins](../operations/origins.md).");

  static final Subsection<AdminSettings> ADMIN =
      AdminSettings.SECTION.one(
          "admin", "Health, metrics and the API, on a listener of their own.");

  static final Subsection<RequestTest> TESTS =
      RequestTest.SECTION.list(
          "tests",
          "Requests, and what must come of them; see [tests](../operations/configure.md#tests)."
              + " `kamille check` runs them, and so does every change of the configuration.");

  static final Subsection<AcmeSettings> ACME =
      AcmeSettings.SECTION.one(
          "acme",
          "Whom certificates are ordered from, by listeners with `tls: acme`; see"
              + " [certificates](../operations/acme.md).");

  static final Subsection<TuningSettings> TUNING =
      TuningSettings.SECTION.one("tuning", "How send buffers are tuned.");

  static final Subsection<ClusterSettings> CLUSTER =
      ClusterSettings.SECTION.one(
          "cluster", "Several nodes as one cache; see [cluster](../operations/cluster.md).");

  static final Setting<List<String>> INCLUDE = IncludedFiles.SETTING;

  private static final int HTTPS_PORT = 443;
  private static final int HTTP_PORT = 80;

  /** The declaration of the whole file. */
  private static final Section<Configuration> FILE =
      Section.of(
          Configuration.class,
          LISTENERS,
          LOOPS,
          ENGINE,
          UPSTREAMS,
          ROUTES,
          CACHE,
          LimitSettings.SECTION.one(
              "limits",
              "Limits on size, number and slowness of messages from clients and origins."),
          OverloadSettings.SECTION.one("overload", "Behaviour under overload."),
          TUNING,
          ForwardingSettings.SECTION.one(
              "forwarding", "Fields of forwarded messages that describe their way."),
          SPOOL,
          LOGS,
          TraceSettings.SECTION.one("tracing", "Which requests are recorded step by step."),
          ADMIN,
          TESTS,
          ACME,
          CLUSTER,
          Setting.of(
                  "host-sockets",
                  ValueTypes.file(),
                  "The socket of `kamille host-sockets`, which gives Kamille its listening sockets"
                      + " and its connections to origins, and looks names up. For a network"
                      + " namespace without interfaces; see"
                      + " [run](../operations/run.md#without-a-network).")
              .orElse("Kamille opens its sockets itself")
              .into("hostSockets")
              .appliesOnRestart(),
          INCLUDE,
          Row.derived(values -> values));

  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  /** Takes values that were read and cross-checked without a problem. */
  static Configuration of(SectionValues values) {
    return FILE.record(values);
  }

  /** The declaration of the whole file. */
  public static Section<?> file() {
    return FILE;
  }

  /** What is no problem, and may become one; perhaps nothing. */
  public List<String> warnings() {
    boolean isFound =
        listeners.stream()
            .mapToInt(listener -> listener.address().port())
            .anyMatch(port -> port == HTTPS_PORT || port == HTTP_PORT);
    return orderedNames().isEmpty() || isFound
        ? List.of()
        : List.of(
            "acme: authorities ask at ports 443 and 80, and no listener has one of them:"
                + " something has to lead from there to here");
  }

  /** The names that certificates are ordered for at a listener; none if it has others. */
  public List<String> orderedNames(ListenerSettings listener) {
    return listener.tls().source() == Source.ACME
        ? ordered(listener.tls().names(), routes.stream().map(RouteSettings::host))
        : List.of();
  }

  /** What is ordered: what is given, or else the hosts that are no patterns. */
  static List<String> ordered(List<String> given, Stream<@Nullable String> hosts) {
    return given.isEmpty()
        ? hosts
            .flatMap(Stream::ofNullable)
            .filter(host -> !host.startsWith("*"))
            .map(TlsSettings::nameOf)
            .flatMap(Stream::ofNullable)
            .distinct()
            .toList()
        : given;
  }

  /** The names that certificates are ordered for, of all listeners. */
  public List<String> orderedNames() {
    Set<String> names = new LinkedHashSet<>();
    for (ListenerSettings listener : listeners) {
      names.addAll(orderedNames(listener));
    }
    return List.copyOf(names);
  }

  /** Whether a listener is there that answers authorities in clear text. */
  public boolean answersInClear() {
    return listeners.stream().anyMatch(listener -> !listener.tls().isOn());
  }

  /** Writes the warnings to the log, because this comes into force. */
  public void logWarnings() {
    warnings().forEach(warning -> LOG.log(Level.WARNING, "{0}", warning));
  }

  /**
   * The certificates in files: of the control plane, of listeners, and those that origins ask for.
   */
  public List<CertificateFiles> certificates() {
    Stream<TlsSettings> servers =
        Stream.concat(Stream.of(admin.tls()), listeners.stream().map(ListenerSettings::tls));
    Stream<OriginTlsSettings> clients =
        upstreams.values().stream().map(upstream -> upstream.settings().tls());
    return Stream.concat(
            servers.filter(TlsSettings::isOn).flatMap(tls -> tls.certificates().stream()),
            clients.flatMap(
                tls ->
                    tls.certificate() == null || tls.key() == null
                        ? Stream.empty()
                        : Stream.of(new CertificateFiles(tls.certificate(), tls.key()))))
        .toList();
  }

  /** The values of the tests, in their order, with their places in the file. */
  public List<SectionValues> testValues() {
    return values.all(TESTS);
  }

  /** The upstream of that name, which there is. */
  public UpstreamGroup upstream(String name) {
    return Objects.requireNonNull(upstreams.get(name), name);
  }

  /** Whether the page for the first start answers for that route, and no upstream. */
  public boolean isWelcome(RouteSettings route) {
    return RouteSettings.WELCOME.equals(route.upstream())
        && !upstreams.containsKey(RouteSettings.WELCOME);
  }

  /** Every setting in which this differs from what runs, by name and with both values. */
  public List<SettingChange> changesFrom(Configuration running) {
    return SettingChanges.between(running.values, values);
  }

  /**
   * What holds once this is loaded over what runs: settings that need a restart stay as they run,
   * so that the next comparison names them again.
   */
  public Configuration reloadedOver(Configuration running) {
    return of(SettingChanges.reloaded(running.values, values));
  }
}
