package io.kamille.launcher.appliance;

import io.kamille.cluster.engine.StrangerLines;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.open.ConnectionLimit;
import io.kamille.core.client.open.LimitSettings;
import io.kamille.core.client.open.Listener;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.client.open.Protocols;
import io.kamille.core.client.open.ProxyProtocolSettings;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.gate.ClientLimits;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.TrustedProxies;
import io.kamille.core.log.AccessLog;
import io.kamille.core.tls.ClientCertificates.Demand;
import io.kamille.core.tls.ServerTls;
import io.kamille.core.tls.TlsProfile;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import io.kamille.core.tls.TlsSettings.Source;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where other nodes of the cluster come in: HTTP/2 over TLS 1.3, with a certificate of the
 * cluster's authority. Any thread.
 *
 * @param shards what each loop knows of their connections
 * @param limit of their connections
 */
record PeerSide(Listener listener, List<ServerShard> shards, ConnectionLimit limit) {

  /*
   * Nodes are no clients: limits for each client and access lists would take the address of a node
   * for that of all its clients, and requests would count twice in metrics and tuning. They are
   * bound by a number of connections of their own, and shed like those of clients.
   */
  private static final int MOST_CONNECTIONS = 4_096;

  /** The listener as its settings would say it. */
  static ListenerSettings listener(ClusterSettings cluster) {
    ClusterSettings.Files files = cluster.tls();
    CertificateFiles own =
        new CertificateFiles(
            Objects.requireNonNull(files.certificate(), "cluster.tls.certificate"),
            Objects.requireNonNull(files.key(), "cluster.tls.key"));
    TlsSettings tls =
        new TlsSettings(
            Source.FILES,
            List.of(own),
            List.of(),
            TlsProfile.MODERN,
            Demand.REQUIRED,
            files.ca(),
            Duration.ZERO);
    return new ListenerSettings(
        Objects.requireNonNull(cluster.peers().address(), "cluster.peers.address"),
        TlsListeners.PEERS,
        AccessList.SECTION.defaults(),
        Protocols.H2,
        tls,
        ProxyProtocolSettings.SECTION.defaults(),
        TrustedProxies.NONE,
        0);
  }

  /**
   * Listens.
   *
   * @param clients what each loop knows of the connections of clients
   * @param inherited sockets that listen already; owned from now on
   * @throws IOException if the address cannot be had
   */
  static PeerSide open(
      ListenerSettings settings,
      List<ServerShard> clients,
      ClientSettings connections,
      ExchangeHandler entrance,
      @Nullable AccessLog accessLog,
      @Nullable ServerTls tls,
      List<Integer> inherited)
      throws IOException {
    ConnectionLimit limit =
        new ConnectionLimit(
            "the limit for nodes",
            MOST_CONNECTIONS,
            LimitSettings.SECTION.defaults().idleThreshold());
    List<ServerShard> shards = new ArrayList<>();
    for (ServerShard client : clients) {
      ExchangeObserver observer = accessLog == null ? (_, _, _, _, _) -> {} : accessLog.forLoop();
      ServerShard shard =
          new ServerShard(
              client.loop(),
              connections,
              client.headsUnderWay().roomBytes(),
              limit,
              accessLog == null ? entrance : accessLog.before(entrance),
              observer,
              System::nanoTime,
              () -> System.currentTimeMillis() / 1000,
              client.shedder());
      shard.start();
      shards.add(shard);
    }
    if (tls != null) {
      tls.counters().tell(new StrangerLines()::tell);
    }
    ClientTable unlimited = new ClientTable(ClientLimits.NONE, AddressMask.FULL, System::nanoTime);
    Listener listener = Listener.open(settings, shards, limit, unlimited, tls, null, 0, inherited);
    return new PeerSide(listener, List.copyOf(shards), limit);
  }

  void drain(Duration idleMayStay) {
    shards.forEach(shard -> shard.drain(idleMayStay));
  }

  void closeAll() {
    shards.forEach(ServerShard::closeAll);
  }
}
