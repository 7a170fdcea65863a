package io.kamille.launcher.fuzz;

import io.kamille.core.h1.Corpus;
import io.kamille.core.http.Authority;
import io.kamille.launcher.fuzz.Answers.Answer;
import io.kamille.launcher.fuzz.ExchangeFuzz.Tally;
import io.kamille.launcher.fuzz.RecordingOrigin.Seen;
import io.kamille.launcher.fuzz.SecondReading.Message;
import io.kamille.launcher.fuzz.Wire.Conversation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * One connection with some requests, a few or most of them spoiled, and a sound one behind them.
 * Confined to one thread.
 */
final class RequestRound implements ExchangeFuzz.Round {

  private static final String LAST = "GET /last HTTP/1.1\r\nHost: z\r\n\r\n";
  private static final int SOUND_LIMIT = 8;

  /** A tilde stands for CRLF. Each leaves the connection open. */
  private static final List<String> SOUND =
      Stream.of(
              "GET /a/b?c=d&e HTTP/1.1~Host: example.org:8080~Accept: */*~X:~Y: z ~~",
              "HEAD / HTTP/1.1~Host: a~Cookie: \u00e4=\t\u00ff~~",
              "GET http://b/c?d HTTP/1.1~Host: b~Connection: x~X: y~~",
              "OPTIONS * HTTP/1.1~Host: [::1]:80~~",
              "DELETE / HTTP/1.1~Host: a~Content-Length: 0~~",
              "POST /p HTTP/1.1~Host: a~Content-Length: 5~~hello",
              "POST /p HTTP/1.1~Host: a~Content-Length: 26~~GET /in HTTP/1.1~Host: b~~~~",
              "POST /q HTTP/1.1~Host: a~Transfer-Encoding: chunked~~5~hello~0~~",
              "PUT / HTTP/1.1~Host: a~Transfer-Encoding: chunked~~00a;ext=\"x\"~0123456789~1;y~z~0;q~Digest: d~~",
              "PATCH / HTTP/1.1~Host: a~Transfer-Encoding: chunked~~1A~GET /in HTTP/1.1~Host: b~~~~~0~~")
          .map(text -> text.replace("~", "\r\n"))
          .toList();

  private final Wire wire;
  private final String octets;
  private final SplittableRandom pieces;

  RequestRound(Wire wire, SplittableRandom random) {
    this.wire = wire;
    octets = (random.nextBoolean() ? spoiledOnes(random) : spoiledRow(random)) + LAST;
    pieces = random.split();
  }

  private static String spoiledOnes(SplittableRandom random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(3); i >= 0; i--) {
      text.append(Corpus.mutant(Corpus.REQUESTS, random));
    }
    return text.toString();
  }

  /** Some sound requests, spoiled somewhere. */
  private static String spoiledRow(SplittableRandom random) {
    StringBuilder row = new StringBuilder();
    for (int i = random.nextInt(SOUND_LIMIT); i >= 0; i--) {
      row.append(SOUND.get(random.nextInt(SOUND.size())));
    }
    return Corpus.mutant(List.of(row.toString()), random);
  }

  @Override
  public String disagreement(Tally tally) throws IOException {
    SecondReading second = SecondReading.ofRequests(octets);
    Conversation said = wire.say(octets, pieces);
    Answers answers = Answers.of(said.got(), n -> method(n, second, said.seen()));
    String fault = fault(second, answers, said, tally);
    return fault.isEmpty()
        ? ""
        : ExchangeFuzz.shown(
            fault, octets, said, "the origin saw " + said.seen() + "\nNetty " + second);
  }

  /** Of the n-th request. Netty may refuse what the proxy lets pass, a chunk extension say. */
  private static String method(int n, SecondReading second, List<Seen> seen) {
    if (n < second.messages().size()) {
      return second.messages().get(n).method();
    }
    return n < seen.size() ? seen.get(n).method() : "GET";
  }

  private static String fault(
      SecondReading second, Answers answers, Conversation said, Tally tally) {
    if (!answers.fault().isEmpty()) {
      return "an answer not in normal form: " + answers.fault();
    }
    List<Seen> seen = said.seen();
    int echoes = 0;
    for (int i = 0; i < answers.list().size(); i++) {
      Answer answer = answers.list().get(i);
      tally.exchanges++;
      if ((answer.closes() || !answer.isComplete()) && i < answers.list().size() - 1) {
        return "an answer behind the last one";
      }
      String echo = answer.echo();
      if (echo == null) {
        tally.refused++;
        continue;
      }
      if (echoes >= seen.size() || !echo.equals(said.client() + "/" + echoes)) {
        return "answer " + i + " is for request " + echo;
      }
      if (i >= second.messages().size()) {
        return second.isStricter() ? "" : "the origin saw a request that Netty does not see";
      }
      String fault = difference(second.messages().get(i), seen.get(echoes++), answer);
      if (!fault.isEmpty()) {
        return fault;
      }
      tally.passed++;
    }
    return echoes == seen.size() || said.wasReset()
        ? ""
        : "the origin saw a request that got no answer";
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
        Authority.normal(octets, 0, octets.length, false), StandardCharsets.ISO_8859_1);
  }
}
