package io.kamille.launcher.fuzz;

import io.kamille.core.h1.Corpus;
import io.kamille.core.http.NormalAuthority;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.StartFailure;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.fuzz.Answers.Answer;
import io.kamille.launcher.fuzz.RecordingOrigin.Plan;
import io.kamille.launcher.fuzz.RecordingOrigin.Seen;
import io.kamille.launcher.fuzz.SecondReading.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Spoiled requests and spoiled responses go through a whole appliance. What the origin saw, what
 * the client got, and what Netty's decoders read in the same octets must agree about where each
 * message begins and ends. Confined to one thread: one round after the other.
 */
final class ExchangeFuzz implements AutoCloseable {

  /*
   * A client closes its side behind its octets, so that the proxy has to come to an end with them,
   * and no round waits for a time-out. The origin numbers what it sees; the number comes back to the
   * client, which knows by it whose answer it got. A connection that ends by a reset may have lost
   * answers on their way to the client; those that arrived are held to the same rules.
   */
  private static final int TIMEOUT_MILLIS = 180_000;
  private static final String LAST = "GET /last HTTP/1.1\r\nHost: z\r\n\r\n";

  private static final List<String> RESPONSES =
      Stream.concat(
              Corpus.RESPONSES.stream(), Corpus.RESPONSES.stream().map(ExchangeFuzz::storable))
          .toList();

  private final SplittableRandom random;
  private final RecordingOrigin origin;
  private final Appliance appliance;
  private final int port;
  private final List<String> disagreements = new ArrayList<>();
  private long exchanges;
  private long passed;
  private long refused;
  private long broken;
  private boolean wasReset;

  ExchangeFuzz(long seed) throws IOException {
    random = new SplittableRandom(seed);
    origin = RecordingOrigin.open();
    String yaml =
        """
        listeners: ['127.0.0.1:0']
        loops: 2
        limits: {head-timeout: 60s, content-timeout: 60s}
        upstreams: {site: {origins: ['%s'], retries: 0, connect-timeout: 60s,
          head-timeout: 60s, content-timeout: 60s}}
        routes: [{upstream: site}]
        cache: {memory: {capacity: 16MiB}}
        log: {level: error}
        admin: {address: off}
        """
            .replace("%s", origin.url());
    try {
      appliance = Appliance.start(configuration(yaml), "fuzz");
    } catch (StartFailure failure) {
      throw new AssertionError(failure);
    }
    String address = appliance.listening().getFirst();
    port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  private static Configuration configuration(String yaml) {
    return switch (ConfigurationFile.parse("fuzz.yaml", yaml.getBytes(StandardCharsets.UTF_8))) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refusedFile ->
          throw new AssertionError(refusedFile.problems());
    };
  }

  private static String storable(String response) {
    return response.replaceFirst("\r\n", "\r\nCache-Control: max-age=60\r\n");
  }

  /** What disagreed, with the octets that show it. */
  List<String> disagreements() {
    return Stream.concat(
            disagreements.stream(), origin.faults().stream().map("the origin got "::concat))
        .toList();
  }

  /** Exchanges that went through as they should. */
  long passed() {
    return passed;
  }

  String summary(String name) {
    return String.join(
        ", ",
        "spoiled " + name,
        exchanges + " exchanges",
        passed + " passed",
        refused + " refused",
        broken + " broken off",
        disagreements().size() + " disagreements");
  }

  // Spoiled requests

  /** One connection with some requests, most of them spoiled, and a sound one behind them. */
  void requests() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(3); i >= 0; i--) {
      text.append(Corpus.mutant(Corpus.REQUESTS, random));
    }
    String octets = text.append(LAST).toString();
    origin.forget();
    SecondReading second = SecondReading.ofRequests(octets);
    String got = say(octets);
    Answers answers =
        Answers.of(
            got, n -> n < second.messages().size() ? second.messages().get(n).method() : "GET");
    List<Seen> seen = origin.seen();
    String fault = requestFault(second, answers, seen);
    if (!fault.isEmpty()) {
      disagree(fault, octets, got, seen + "\nNetty " + second);
    }
  }

  private String requestFault(SecondReading second, Answers answers, List<Seen> seen) {
    if (!answers.fault().isEmpty()) {
      return "an answer not in normal form: " + answers.fault();
    }
    int echoes = 0;
    for (int i = 0; i < answers.list().size(); i++) {
      Answer answer = answers.list().get(i);
      exchanges++;
      if ((answer.closes() || !answer.isComplete()) && i < answers.list().size() - 1) {
        return "an answer behind the last one";
      }
      Integer echo = answer.echo();
      if (echo == null) {
        refused++;
        continue;
      }
      if (echo != echoes++ || echo >= seen.size()) {
        return "answer " + i + " is for request " + echo;
      }
      if (i >= second.messages().size()) {
        if (second.isStricter()) {
          return "";
        }
        return "the origin saw a request that Netty does not see";
      }
      String fault = difference(second.messages().get(i), seen.get(echo), answer);
      if (!fault.isEmpty()) {
        return fault;
      }
      passed++;
    }
    return echoes == seen.size() || wasReset ? "" : "the origin saw a request that got no answer";
  }

  private static String difference(Message meant, Seen seen, Answer answer) {
    if (!seen.method().equals(meant.method())) {
      return "method " + seen.method();
    }
    if (!seen.content().equals(meant.content())) {
      return "content of " + seen.content().length() + " octets";
    }
    int scheme = meant.target().startsWith("/") ? -1 : meant.target().indexOf("://");
    String authority = meant.host();
    String target = meant.target();
    if (scheme >= 0) {
      int end = authorityEnd(target, scheme + 3);
      authority = target.substring(scheme + 3, end);
      String rest = target.substring(end);
      target = rest.startsWith("/") ? rest : "/" + rest;
      if (rest.isEmpty() && meant.method().equals("OPTIONS")) {
        target = "*";
      }
    }
    if (!seen.target().equals(target)) {
      return "target " + seen.target();
    }
    if (authority != null && !authority.isEmpty() && !seen.host().equals(normal(authority))) {
      return "host " + seen.host();
    }
    boolean isHead = meant.method().equals("HEAD");
    return isHead || answer.content().equals(seen.content()) ? "" : "another echo";
  }

  private static int authorityEnd(String target, int from) {
    int at = from;
    while (at < target.length() && target.charAt(at) != '/' && target.charAt(at) != '?') {
      at++;
    }
    return at;
  }

  private static String normal(String authority) {
    byte[] octets = authority.getBytes(StandardCharsets.ISO_8859_1);
    return new String(
        NormalAuthority.of(octets, 0, octets.length, false), StandardCharsets.ISO_8859_1);
  }

  // Spoiled responses

  /** A spoiled response, a sound one behind it, and what the store makes of both. */
  void responses(long round) throws IOException {
    String octets = Corpus.mutant(RESPONSES, random);
    SecondReading whole = SecondReading.ofResponses(octets, true);
    boolean mayStayOpen = SecondReading.ofResponses(octets, false).finalResponse() != null;
    origin.forget();
    String target = "/spoiled/" + round;
    origin.plan(target, new Plan(octets, !mayStayOpen || random.nextBoolean()));
    String got = say(get(target) + get("/sound"));
    Answers answers = Answers.of(got, n -> "GET");
    String fault = responseFault(whole, answers);
    if (fault.isEmpty()) {
      String again = say(get("/sound"));
      fault = isSound(Answers.of(again, n -> "GET")) ? "" : "an unsound answer: " + again;
    }
    if (fault.isEmpty()) {
      String stored = say(get(target));
      fault = storedFault(whole, Answers.of(stored, n -> "GET"));
    }
    if (!fault.isEmpty()) {
      disagree(fault, octets, got, "Netty " + whole);
    }
  }

  private static String get(String target) {
    return "GET " + target + " HTTP/1.1\r\nHost: z\r\n\r\n";
  }

  private String responseFault(SecondReading second, Answers answers) {
    exchanges++;
    if (!answers.fault().isEmpty()) {
      return "an answer not in normal form: " + answers.fault();
    }
    Message meant = second.finalResponse();
    if (answers.list().isEmpty()) {
      // Broken off by a reset, before the client had read the beginning.
      broken++;
      return meant == null || wasReset ? "" : "no answer";
    }
    Answer first = answers.list().getFirst();
    if (first.isOurs()) {
      refused++;
    } else if (!first.isComplete()) {
      broken++;
    } else if (meant == null) {
      return second.isStricter() ? "" : "a complete answer where Netty sees none";
    } else if (meant.status() != first.status() || !meant.content().equals(first.content())) {
      return "another answer than Netty sees";
    } else {
      passed++;
    }
    if (answers.list().size() == 1) {
      return "";
    }
    return isSound(new Answers(answers.list().subList(1, answers.list().size()), ""))
        ? ""
        : "an unsound answer to the second request";
  }

  private static boolean isSound(Answers answers) {
    return answers.fault().isEmpty()
        && answers.list().size() == 1
        && answers.list().getFirst().echo() != null
        && answers.list().getFirst().isComplete();
  }

  /** Whether the store kept something else than the whole of a complete response. */
  private static String storedFault(SecondReading second, Answers answers) {
    if (!answers.fault().isEmpty() || answers.list().size() != 1) {
      return "no answer to the request asked again: " + answers;
    }
    Answer answer = answers.list().getFirst();
    Message meant = second.finalResponse();
    if (!answer.isHit() || (meant == null && second.isStricter())) {
      return "";
    }
    boolean isSame =
        meant != null
            && answer.status() == meant.status()
            && Objects.equals(answer.content(), meant.content());
    return isSame ? "" : "stored: " + answer;
  }

  // On the wire

  /** Sends octets in pieces, closes this side, and reads to the end. */
  private String say(String octets) throws IOException {
    ByteArrayOutputStream got = new ByteArrayOutputStream();
    wasReset = false;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      send(socket, octets.getBytes(StandardCharsets.ISO_8859_1));
      InputStream in = socket.getInputStream();
      byte[] buffer = new byte[8192];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        got.write(buffer, 0, read);
      }
    } catch (SocketException reset) {
      wasReset = true;
    }
    return got.toString(StandardCharsets.ISO_8859_1);
  }

  /** The proxy may have closed before the last piece, which is no reason not to read. */
  private void send(Socket socket, byte[] octets) throws IOException {
    try {
      int from = 0;
      while (from < octets.length) {
        int rest = octets.length - from;
        int length = random.nextInt(3) == 0 ? 1 + random.nextInt(rest) : rest;
        socket.getOutputStream().write(octets, from, length);
        from += length;
      }
      socket.shutdownOutput();
    } catch (SocketException reset) {
      wasReset = true;
    }
  }

  private void disagree(String fault, String octets, String got, String more) {
    disagreements.add(fault + "\noctets <<" + octets + ">>\ngot <<" + got + ">>\n" + more);
  }

  @Override
  public void close() throws IOException {
    appliance.close();
    origin.close();
  }
}
