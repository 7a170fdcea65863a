package io.kamille.cluster.settings;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which nodes are one cluster, and what they do for one another.
 *
 * @param name null if there is no cluster
 * @param node this one
 * @param voters the nodes whose majority decides
 * @param address of the control plane between nodes
 * @param secretFile 32 octets or more, the same at all nodes
 * @param config whether nodes share their configuration
 * @param lease how long a node may know nothing of purges
 * @param whenCutOff what becomes of stored responses after that
 * @param startWait how long a start waits for the others
 * @param purgeWait how long a purge waits for answers
 */
public record ClusterSettings(
    @Nullable String name,
    String node,
    List<String> voters,
    @Nullable HostPort address,
    Discovery discovery,
    Files tls,
    @Nullable Path secretFile,
    ConfigChoice config,
    Duration lease,
    WhenCutOff whenCutOff,
    Duration startWait,
    Duration purgeWait,
    PeerSettings peers) {

  /** What a node does with stored responses while it may have missed a purge. */
  public enum WhenCutOff {
    /** It asks the origin about each. */
    REVALIDATE,
    /** It serves them. */
    SERVE
  }

  /** Whose the configuration is. */
  public enum ConfigChoice {
    /** A change by the API is made at all nodes. */
    SHARED,
    /** Each node has its own. */
    LOCAL
  }

  /**
   * Where other nodes may be.
   *
   * @param hosts their addresses
   * @param dns a name whose addresses are nodes, at the port of ours; null for none
   */
  public record Discovery(List<String> hosts, @Nullable String dns) {

    public static final Setting<List<String>> HOSTS =
        Setting.of(
                "hosts",
                ValueTypes.list("list of addresses", Discovery::isHost, "HOST:PORT"),
                "The addresses of nodes, its own among them or not.")
            .orElse("none", List.of())
            .appliesOnRestart();

    public static final Setting<String> DNS =
        Setting.of(
                "dns",
                ValueTypes.token(),
                "A name in the DNS. Each of its addresses is a node, at the port of `address`.")
            .orElse("none")
            .appliesOnRestart();

    static final Section<Discovery> SECTION = Section.of(Discovery.class, HOSTS, DNS);

    private static boolean isHost(String text) {
      return ValueTypes.address().parse(text) != null;
    }
  }

  /**
   * The certificate of this node, and who signs those of all.
   *
   * @param certificate null without a cluster
   */
  public record Files(@Nullable Path certificate, @Nullable Path key, @Nullable Path ca) {

    public static final Setting<Path> CERTIFICATE =
        Setting.of(
                "certificate", ValueTypes.file(), "The certificate of this node, with its chain.")
            .orElse("none")
            .appliesOnRestart();

    public static final Setting<Path> KEY =
        Setting.of("key", ValueTypes.file(), "Its private key, as PEM.")
            .orElse("none")
            .appliesOnRestart();

    public static final Setting<Path> CA =
        Setting.of(
                "ca",
                ValueTypes.file(),
                "Who signs the certificates of nodes, and of nothing else: each of them is let in.")
            .orElse("none")
            .appliesOnRestart();

    static final Section<Files> SECTION = Section.of(Files.class, CERTIFICATE, KEY, CA);
  }

  public static final Setting<String> NAME =
      Setting.of(
              "name",
              ValueTypes.token(),
              "The name of the cluster. Nodes with another name are not let in.")
          .orElse("no cluster")
          .appliesOnRestart();

  public static final Setting<String> NODE =
      Setting.of("node", ValueTypes.token(), "The name of this node, once in the cluster.")
          .defaultsTo("the name of the host", _ -> hostName())
          .appliesOnRestart();

  public static final Setting<List<String>> VOTERS =
      Setting.of(
              "voters",
              ValueTypes.list("list of names", text -> !text.isBlank(), "names of nodes"),
              "The nodes whose majority decides, the same list at each node. Three or five; others"
                  + " only follow.")
          .orElse("none", List.of())
          .appliesOnRestart();

  public static final Setting<HostPort> ADDRESS =
      Setting.of(
              "address",
              ValueTypes.address(),
              "Where the other nodes reach this one, for all but stored responses.")
          .orElse("none")
          .appliesOnRestart();

  public static final Subsection<Discovery> DISCOVERY =
      Discovery.SECTION.one("discovery", "Where the other nodes are.");

  public static final Subsection<Files> TLS =
      Files.SECTION.one("tls", "The certificates of nodes. There is no cluster without them.");

  public static final Setting<Path> SECRET_FILE =
      Setting.of(
              "secret-file",
              ValueTypes.file(),
              "A file of 32 octets or more, the same at each node. It says which node owns which"
                  + " object, and makes the keys of what nodes share.")
          .orElse("none")
          .appliesOnRestart();

  public static final Setting<ConfigChoice> CONFIG =
      Setting.of(
              "config",
              ValueTypes.oneOf(ConfigChoice.values()),
              "`shared` makes a change by the API at all nodes, whose configuration files are the"
                  + " same. They include a file of the node's own. With `local` each node has its"
                  + " own file, for those who deploy files.")
          .defaultsTo(ConfigChoice.SHARED)
          .appliesOnRestart();

  public static final Setting<Duration> LEASE =
      Setting.of(
              "lease",
              ValueTypes.duration(Duration.ofSeconds(5), Duration.ofMinutes(5)),
              "How long a node serves what it has stored without knowing of the purges of the"
                  + " others.")
          .defaultsTo(Duration.ofSeconds(15))
          .appliesOnRestart();

  public static final Setting<WhenCutOff> WHEN_CUT_OFF =
      Setting.of(
              "when-cut-off",
              ValueTypes.oneOf(WhenCutOff.values()),
              "What becomes of stored responses after that: `revalidate` asks the origin about"
                  + " each, `serve` uses them, purged or not.")
          .defaultsTo(WhenCutOff.REVALIDATE)
          .appliesOnRestart();

  public static final Subsection<PeerSettings> PEERS =
      PeerSettings.SECTION.one(
          "peers", "How nodes ask one another for responses before they ask an origin.");

  /** The settings under {@code cluster}. */
  public static final Section<ClusterSettings> SECTION =
      Section.of(
          ClusterSettings.class,
          NAME,
          NODE,
          VOTERS,
          ADDRESS,
          DISCOVERY,
          TLS,
          SECRET_FILE,
          CONFIG,
          LEASE,
          WHEN_CUT_OFF,
          Row.fixed(Duration.ofSeconds(30)),
          Row.fixed(Duration.ofSeconds(2)),
          PEERS);

  /** Whether there is a cluster. */
  public boolean isOn() {
    return name != null;
  }

  /** The address of the control plane, which a cluster has. */
  public HostPort bound() {
    return Objects.requireNonNull(address, "cluster.address");
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException nameless) {
      return "localhost";
    }
  }
}
