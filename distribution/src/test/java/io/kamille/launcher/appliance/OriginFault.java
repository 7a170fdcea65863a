package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.message;
import static io.kamille.launcher.appliance.StubOrigin.ok;

import io.kamille.launcher.appliance.StubOrigin.Script;
import io.kamille.launcher.appliance.StubOrigin.Visit;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Something an origin may do wrong once it has a connection, and what becomes of it: a row of the
 * table in {@code docs/reference/status-codes.md}.
 *
 * @param settings what its upstream needs
 * @param script of the origin
 */
record OriginFault(String words, Outcome outcome, String settings, Script script) {

  private static final long DRIP_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  static final List<OriginFault> ALL =
      List.of(
          of("closes before the head", Outcome.error(502, "connection_terminated"), Visit::close),
          of("resets before the head", Outcome.error(502, "connection_terminated"), Visit::reset),
          of(
              "closes within the head",
              Outcome.error(502, "connection_terminated"),
              visit -> beginHead(visit).close()),
          of(
              "resets within the head",
              Outcome.error(502, "connection_terminated"),
              visit -> beginHead(visit).reset()),
          of(
              "hangs before the head",
              Outcome.error(504, "http_response_timeout"),
              "head-timeout: 200ms",
              Visit::hang),
          of(
              "hangs within the head",
              Outcome.error(504, "http_response_timeout"),
              "head-timeout: 200ms",
              visit -> beginHead(visit).hang()),
          of(
              "drips the head",
              Outcome.error(504, "http_response_timeout"),
              "head-timeout: 200ms",
              OriginFault::drip),
          of(
              "sends no HTTP",
              Outcome.error(502, "http_protocol_error"),
              visit -> visit.send("I am a teapot\r\n\r\n")),
          of(
              "sends contradictory lengths",
              Outcome.error(502, "http_protocol_error"),
              visit -> visit.send(storable("Content-Length: 5\r\nContent-Length: 6") + "hello!")),
          of(
              "sends too long a head",
              Outcome.error(502, "http_response_header_section_size"),
              visit -> visit.send(storable("X: " + "y".repeat(100_000)))),
          of(
              "sends too many interim responses",
              Outcome.error(502, "http_protocol_error"),
              visit -> visit.send("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17))),
          of(
              "hangs after interim responses",
              Outcome.error(504, "http_response_timeout"),
              "head-timeout: 200ms",
              visit -> visit.send("HTTP/1.1 103 Early Hints\r\n\r\n").hang()),
          of("answers 500", Outcome.ofOrigin(500), errorStatus("500 Internal Server Error")),
          of("answers 502", Outcome.ofOrigin(502), errorStatus("502 Bad Gateway")),
          of("answers 503", Outcome.ofOrigin(503), errorStatus("503 Service Unavailable")),
          of("answers 504", Outcome.ofOrigin(504), errorStatus("504 Gateway Timeout")),
          of(
              "closes within content of known length",
              Outcome.broken("http_response_incomplete"),
              visit -> beginContent(visit).awaitTheWord().close()),
          of(
              "resets within content of known length",
              Outcome.broken("http_response_incomplete"),
              visit -> beginContent(visit).awaitTheWord().reset()),
          of(
              "hangs within content of known length",
              Outcome.broken("connection_read_timeout"),
              "content-timeout: 200ms",
              visit -> beginContent(visit).awaitTheWord().hang()),
          of(
              "closes within chunks",
              Outcome.broken("http_response_incomplete"),
              visit -> beginChunks(visit).awaitTheWord().close()),
          of(
              "resets within chunks",
              Outcome.broken("http_response_incomplete"),
              visit -> beginChunks(visit).awaitTheWord().reset()),
          of(
              "hangs within chunks",
              Outcome.broken("connection_read_timeout"),
              "content-timeout: 200ms",
              visit -> beginChunks(visit).awaitTheWord().hang()),
          of(
              "sends malformed chunks",
              Outcome.broken("http_protocol_error"),
              visit -> beginChunks(visit).awaitTheWord().send("lo, too long")),
          of(
              "closes behind content of no length",
              Outcome.whole(),
              visit -> beginUntilClose(visit).awaitTheWord().close()),
          of(
              "resets within content of no length",
              Outcome.broken("http_response_incomplete"),
              visit -> beginUntilClose(visit).awaitTheWord().reset()),
          of(
              "hangs within content of no length",
              Outcome.broken("connection_read_timeout"),
              "content-timeout: 200ms",
              visit -> beginUntilClose(visit).awaitTheWord().hang()),
          of("drips the content", Outcome.whole(), OriginFault::dripContent),
          of(
              "sends octets behind the end",
              Outcome.whole(),
              visit -> visit.send(storable("Content-Length: 5") + "whole" + ok("poison"))));

  /** What the client is told, or gets, and what the log says. */
  enum Sees {
    /** A status code of ours. */
    ERROR,
    /** A status code of the origin's. */
    ORIGINS_ERROR,
    /** A head, and then the end of the connection within the content. */
    BROKEN_TRANSFER,
    /** All, as far as anyone can tell. */
    WHOLE
  }

  /**
   * What becomes of the fault.
   *
   * @param status of the answer
   * @param token of {@code Proxy-Status} and the access log, or -
   */
  record Outcome(Sees sees, int status, String token) {

    private static Outcome whole() {
      return new Outcome(Sees.WHOLE, 200, "-");
    }

    private static Outcome error(int status, String token) {
      return new Outcome(Sees.ERROR, status, token);
    }

    private static Outcome ofOrigin(int status) {
      return new Outcome(Sees.ORIGINS_ERROR, status, "-");
    }

    private static Outcome broken(String token) {
      return new Outcome(Sees.BROKEN_TRANSFER, 200, token);
    }

    /** Whether a stored response with {@code stale-if-error} goes to the client instead. */
    boolean isCoveredByStale() {
      return sees == Sees.ERROR || sees == Sees.ORIGINS_ERROR;
    }
  }

  private static OriginFault of(String words, Outcome outcome, Script script) {
    return of(words, outcome, "retries: 0", script);
  }

  private static OriginFault of(String words, Outcome outcome, String settings, Script script) {
    return new OriginFault(words, outcome, settings, script);
  }

  /** Whether the next request may follow on the same connection. */
  boolean leavesAConnection() {
    return outcome.sees() == Sees.ORIGINS_ERROR || words.startsWith("drips the content");
  }

  /** Its row of the table. */
  String row() {
    String client =
        switch (outcome.sees()) {
          case ERROR -> Integer.toString(outcome.status());
          case ORIGINS_ERROR -> outcome.status() + ", the origin's own";
          case BROKEN_TRANSFER -> "the head, and a transfer that breaks off";
          case WHOLE -> "a whole answer";
        };
    String token = outcome.token().equals("-") ? "—" : "`" + outcome.token() + "`";
    String stale = outcome.isCoveredByStale() ? "the stored response" : "the same";
    return String.join(" | ", "| " + words, client, token, stale + " |");
  }

  @Override
  public String toString() {
    return words;
  }

  private static String storable(String line) {
    return head("200 OK", "Cache-Control: max-age=600", line) + "\r\n";
  }

  private static Visit beginHead(Visit visit) throws IOException {
    return visit.send("HTTP/1.1 200 OK\r\nCache-Control: max-");
  }

  private static Visit beginContent(Visit visit) throws IOException {
    return visit.send(storable("Content-Length: 100") + "who");
  }

  private static Visit beginChunks(Visit visit) throws IOException {
    return visit.send(storable("Transfer-Encoding: chunked") + "5\r\nwho");
  }

  private static Visit beginUntilClose(Visit visit) throws IOException {
    return visit.send(storable("Connection: close") + "whole");
  }

  private static Script errorStatus(String status) {
    return visit -> visit.send(message(status, "trouble"));
  }

  /** An octet now and then, for ever. */
  private static void drip(Visit visit) throws IOException {
    beginHead(visit);
    while (true) {
      visit.send("9");
      LockSupport.parkNanos(DRIP_NANOS);
    }
  }

  private static void dripContent(Visit visit) throws IOException {
    visit.send(storable("Content-Length: 5"));
    for (char octet : "whole".toCharArray()) {
      visit.send(String.valueOf(octet));
      LockSupport.parkNanos(DRIP_NANOS);
    }
  }
}
