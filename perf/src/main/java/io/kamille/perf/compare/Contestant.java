package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A server that runs.
 *
 * @param process with its children
 * @param address on which it listens
 */
public record Contestant(Peer peer, Child process, InetSocketAddress address) {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration LIMIT = Duration.ofSeconds(5);

  /** A full cache may take in what is large only when it was asked for several times. */
  private static final int EARLIER_REQUESTS = 8;

  /** They show where the answer comes from. */
  private static final int PROOF_REQUESTS = 3;

  /**
   * Starts it on its core.
   *
   * @throws IOException if it does not listen
   */
  static Contestant start(Workbench bench, Peer peer, Place place) throws IOException {
    List<String> command = peer.prepare(bench.directory(peer.label()), place);
    Child process = bench.start(peer.label(), Workbench.Core.SERVER, command);
    var address = new InetSocketAddress(place.address(), place.port());
    process.awaitListening(address, START_LIMIT);
    return new Contestant(peer, process, address);
  }

  int port() {
    return address.getPort();
  }

  /** Where a subject is at that server. */
  String url(Subject subject) {
    String scheme = subject.isSecure() ? "https://" : "http://";
    return scheme + address.getHostString() + ":" + port() + subject.path();
  }

  String name() {
    return peer.label();
  }

  /**
   * Makes sure that the server gives the right octets, and from the right place: a stored response
   * keeps the number that the origin gave it.
   *
   * @throws IOException if not
   */
  void prove(Subject subject) throws IOException, InterruptedException {
    String expected = FixedContent.hash(subject.content());
    Set<String> serials = new HashSet<>();
    try (var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (int i = -EARLIER_REQUESTS; i < PROOF_REQUESTS; i++) {
        HttpResponse<byte[]> response = get(client, subject);
        if (response.statusCode() != 200 || !FixedContent.hash(response.body()).equals(expected)) {
          throw new IOException(
              name() + " gave a wrong answer to " + subject.path() + ": " + response);
        }
        if (i >= 0) {
          response.headers().firstValue("X-Serial").ifPresent(serials::add);
        }
      }
    }
    boolean isStored = subject.kind() != Subject.Kind.PASS;
    if (isStored ? serials.size() > 1 : serials.size() < PROOF_REQUESTS) {
      throw new IOException(
          name() + " asked the origin " + serials.size() + " times for " + subject.path());
    }
  }

  private HttpResponse<byte[]> get(HttpClient client, Subject subject)
      throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url(subject))).timeout(LIMIT);
    return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }
}
