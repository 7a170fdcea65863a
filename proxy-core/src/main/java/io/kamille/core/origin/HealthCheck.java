package io.kamille.core.origin;

import io.kamille.core.http.Octets;
import io.kamille.core.setting.Row;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How an origin is asked whether it is well, while no request says so.
 *
 * @param interval from the end of a check to the next one
 * @param timeout for a whole check
 * @param rise checks in a row that must pass to bring it back
 * @param fall checks in a row that must fail to put it out; one is enough if its requests have put
 *     it out already
 * @param path what an HTTP check asks for
 * @param headers fields that an HTTP or gRPC check sends; {@code Host} is the origin's own name
 *     unless it is among them
 * @param expect the status codes that pass
 * @param contains what the content must have somewhere; empty for anything
 */
public record HealthCheck(
    Protocol kind,
    Duration interval,
    Duration timeout,
    int rise,
    int fall,
    String path,
    List<Line> headers,
    List<StatusRange> expect,
    String contains) {

  /** What is asked. */
  public enum Protocol {
    OFF,
    HTTP,
    GRPC,
    TCP;

    /** Whether a setting beside it has an effect. */
    public boolean uses(Setting<?> setting) {
      boolean isOfHttp = List.of(REQUEST_PATH, EXPECT, CONTAINS).contains(setting);
      return switch (this) {
        case OFF -> false;
        case HTTP -> true;
        case GRPC -> !isOfHttp;
        case TCP -> !isOfHttp && !setting.equals(HEADERS);
      };
    }
  }

  /** A header field. */
  public record Line(String name, String value) {

    private static final Pattern FORM =
        Pattern.compile("([^:]+):[ \\t]*([!-~&&[^,]](?:[ -~&&[^,]]*[!-~&&[^,]])?)");

    static @Nullable Line parse(String text) {
      Matcher parts = FORM.matcher(text);
      if (!parts.matches() || !mayBeSent(parts.group(1))) {
        return null;
      }
      Line line = new Line(parts.group(1), parts.group(2));
      return line.isHost() && ValueTypes.authority().parse(line.value) == null ? null : line;
    }

    private boolean isHost() {
      return name.equalsIgnoreCase("host");
    }

    private static boolean mayBeSent(String name) {
      return Octets.isToken(name) && OWN.stream().noneMatch(name::equalsIgnoreCase);
    }

    @Override
    public String toString() {
      return name + ": " + value;
    }
  }

  /** Names of fields that frame messages, or that a check sets itself. */
  private static final List<String> OWN =
      List.of(
          """
          connection content-length content-type expect keep-alive te trailer
          transfer-encoding upgrade user-agent
          """
              .split("\\s+"));

  /** Status codes from one to another, both among them. */
  public record StatusRange(int from, int to) {

    private static final Pattern CODE = Pattern.compile("[1-5][0-9]{2}");
    private static final Pattern CLASS = Pattern.compile("[1-5]xx");

    static @Nullable StatusRange parse(String text) {
      if (CLASS.matcher(text).matches()) {
        int first = (text.charAt(0) - '0') * 100;
        return new StatusRange(first, first + 99);
      }
      if (CODE.matcher(text).matches()) {
        int code = Integer.parseInt(text);
        return new StatusRange(code, code);
      }
      return null;
    }

    @Override
    public String toString() {
      return from == to ? String.valueOf(from) : from / 100 + "xx";
    }
  }

  /** What a bare value stands for. */
  public static final Setting<Protocol> KIND =
      Setting.of(
              "kind",
              ValueTypes.oneOf(Protocol.values()),
              "The kind of check. `http` asks for `path` in the protocol of the upstream, over TLS"
                  + " if the origin speaks it. `grpc` calls `grpc.health.v1.Health/Check` for the"
                  + " server as a whole, by HTTP/2. `tcp` opens a connection. `off` sends none.")
          .defaultsTo(Protocol.OFF);

  public static final Setting<String> REQUEST_PATH =
      Setting.of(
              "path",
              ValueTypes.text(
                  "path and query",
                  "a path that begins with /, without space and #",
                  Pattern.compile("/[!-~&&[^#]]{0,1023}").asMatchPredicate()),
              "The path and query that an HTTP check asks for.")
          .defaultsTo("/");

  public static final Setting<List<Line>> HEADERS =
      Setting.of(
              "headers",
              ValueTypes.list(
                  "list of header fields",
                  Line::parse,
                  Line::toString,
                  "NAME: VALUE without a comma, not User-Agent or a field that frames; HOST[:PORT]"
                      + " for Host"),
              "Header fields that an HTTP or gRPC check sends, such as `X-Probe: kamille`. `Host`"
                  + " is host and port of the origin, unless it is among them.")
          .defaultsTo(List.of());

  public static final Setting<List<StatusRange>> EXPECT =
      Setting.of(
              "expect",
              ValueTypes.list(
                  "list of status codes",
                  StatusRange::parse,
                  StatusRange::toString,
                  "a status code such as 200, or a class such as 2xx"),
              "The status codes that pass an HTTP check.")
          .defaultsTo(List.of(new StatusRange(200, 299), new StatusRange(300, 399)));

  public static final Setting<String> CONTAINS =
      Setting.of(
              "contains",
              ValueTypes.text(
                  "text",
                  "1 to 256 visible ASCII characters or spaces",
                  Pattern.compile("[ -~]{1,256}").asMatchPredicate()),
              "What the content of a passed HTTP check has in its first 64 KiB.")
          .orElse("the content is not read", "");

  /** The settings under {@code check}. */
  public static final Section<HealthCheck> SECTION =
      Section.of(
          HealthCheck.class,
          KIND,
          Setting.of(
                  "interval",
                  ValueTypes.duration(Duration.ofMillis(100), Duration.ofHours(1)),
                  "The time from the end of a check to the next one; up to a tenth more or less at"
                      + " random.")
              .defaultsTo(Duration.ofSeconds(5)),
          Setting.of(
                  "timeout",
                  ValueTypes.duration(Duration.ofMillis(10), Duration.ofMinutes(1)),
                  "How long a whole check may take: connection, TLS and answer.")
              .defaultsTo(Duration.ofSeconds(2)),
          Row.fixed(2),
          Row.fixed(3),
          REQUEST_PATH,
          HEADERS,
          EXPECT,
          CONTAINS);

  /** The {@code Host} field of a check, or null for the origin's own name. */
  public @Nullable String host() {
    return headers.stream().filter(Line::isHost).map(Line::value).findFirst().orElse(null);
  }

  /** The fields of a check beside it. */
  public List<Line> fields() {
    return headers.stream().filter(line -> !line.isHost()).toList();
  }

  /** Whether there are any. */
  public boolean isOn() {
    return kind != Protocol.OFF;
  }

  /** Whether an answer with this status code passes. */
  public boolean passes(int status) {
    for (StatusRange range : expect) {
      if (range.from() <= status && status <= range.to()) {
        return true;
      }
    }
    return false;
  }
}
