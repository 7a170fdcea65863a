package io.kamille.perf.compare;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.H2o;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Starts servers with one certificate of P-256, made for the run. Confined to its thread. */
final class SecureServers {

  private final Session session;
  private final Path chain;
  private final Path key;

  private SecureServers(Session session) throws IOException {
    this.session = session;
    Path directory = session.bench().directory("tls");
    this.chain = directory.resolve("chain.pem");
    this.key = directory.resolve("key.pem");
  }

  /** Starts those that are wanted and installed. */
  static List<Contestant> start(Session session) throws IOException, InterruptedException {
    var servers = new SecureServers(session);
    servers.makeCertificate();
    return servers.startAll();
  }

  private void makeCertificate() throws IOException, InterruptedException {
    if (Programs.find("openssl") == null) {
      throw new IOException("openssl is needed; install it with: apt-get install openssl");
    }
    String[] words = {
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-keyout",
      key.toString(),
      "-out",
      chain.toString(),
      "-days",
      "2",
      "-subj",
      "/CN=localhost"
    };
    session.bench().run(Workbench.Core.OTHERS, List.of(words));
  }

  private List<Contestant> startAll() throws IOException {
    List<Contestant> servers = new ArrayList<>();
    int connections = session.chosen().number("--connections");
    for (Peer peer :
        List.of(new Kamille(session.checkout()), new Nginx(), new Haproxy(), new H2o())) {
      if (!session.isWanted(peer.name())) {
        continue;
      }
      String missing = peer.missing();
      if (missing != null) {
        System.out.println("left out: " + missing);
        continue;
      }
      int port = Workbench.freePort();
      var place = new Place(Job.HIT, port, session.origin().port(), connections, List.of());
      servers.add(
          Contestant.start(
              session.bench(),
              peer,
              place,
              (started, directory, command) -> secure(started, directory, port)));
      session.fact(peer.name(), "%s", peer.version());
    }
    return servers;
  }

  /** Puts the certificate into the configuration that stands there. */
  private void secure(Peer peer, Path directory, int port) throws IOException {
    String address = "127.0.0.1:" + port;
    switch (peer) {
      case Kamille _ ->
          replace(
              directory.resolve("kamille.yaml"),
              "address: " + address,
              "address: " + address + "\n    tls: {certificates: [{chain: %s, key: %s}]}");
      case Nginx _ ->
          replace(
              directory.resolve("nginx.conf"),
              "listen " + address,
              "ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate %s; ssl_certificate_key %s; listen "
                  + address
                  + " ssl http2");
      case H2o _ ->
          replace(
              directory.resolve("h2o.conf"),
              "  port: " + port,
              "  port: " + port + "\n  ssl: {certificate-file: %s, key-file: %s}");
      default -> {
        Path both = directory.resolve("both.pem");
        Files.writeString(both, Files.readString(chain) + Files.readString(key));
        replace(
            directory.resolve("haproxy.cfg"),
            "bind " + address,
            "bind " + address + " ssl crt " + both + " alpn h2,http/1.1");
      }
    }
  }

  private void replace(Path file, String plain, String secure) throws IOException {
    String text = Files.readString(file);
    if (!text.contains(plain)) {
      throw new IOException(file + ": no " + plain);
    }
    Files.writeString(file, text.replace(plain, String.format(Locale.ROOT, secure, chain, key)));
  }
}
