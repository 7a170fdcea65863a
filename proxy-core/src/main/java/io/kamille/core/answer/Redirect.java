package io.kamille.core.answer;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Authority;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sends clients to another URL. Any thread.
 *
 * @param to a URL or a path, with {@code {host}}, {@code {path}} and {@code {uri}} in it
 * @param status of the response; 0 if there is no redirect
 */
public record Redirect(@Nullable String to, int status) implements ExchangeHandler {

  private static final Pattern NAME = Pattern.compile("\\{(host|path|uri)}");

  public static final Setting<String> TO =
      Setting.of(
              "to",
              ValueTypes.text(
                  "URL",
                  "a URL or a path, with {host}, {path} or {uri} for those of the request",
                  text -> isTarget(text)),
              "Where clients are sent, such as `https://www.example.org{uri}`. `{host}` stands for"
                  + " the host of the request without port, `{path}` for its path, `{uri}` for path"
                  + " and query.")
          .orElse("no redirect");

  static boolean isTarget(String text) {
    String plain = text.replace("{host}", "h").replace("{path}", "/p").replace("{uri}", "/p");
    return plain.length() <= 2_048
        && (plain.startsWith("/") ? !plain.startsWith("//") : plain.matches("https?://[^/].*"))
        && plain.chars().allMatch(c -> c > ' ' && c <= '~' && c != '{' && c != '}');
  }

  static final ValueType<Integer> STATUS =
      ValueTypes.oneOf(
          List.of(
              Map.entry("301", 301),
              Map.entry("302", 302),
              Map.entry("303", 303),
              Map.entry("307", 307),
              Map.entry("308", 308)));

  /** The settings under {@code redirect}. */
  public static final Section<Redirect> SECTION =
      Section.of(
              Redirect.class,
              TO,
              Setting.of(
                      "status",
                      STATUS,
                      "The status code: 301 and 308 are for ever, 307 and 308 keep the method.")
                  .defaultsTo(308))
          .checkedBy((redirect, problems) -> problems.needs(redirect, TO, "to"));

  public static final Redirect NONE = SECTION.defaults();

  /** Whether there is one. */
  public boolean isOn() {
    return to != null;
  }

  @Override
  public void handle(Exchange exchange) {
    Reply reply = exchange.reply();
    reply.head(head(exchange.request()), 0);
    reply.end(null);
  }

  /** What it answers to that request. */
  public ResponseHead head(RequestHead request) {
    return ResponseHead.of(status, "Location", location(request));
  }

  private String location(RequestHead request) {
    String uri = request.pathAndQuery();
    // Two slashes would begin the name of another host.
    String path = "/" + uri.substring(leadingSlashes(uri));
    int query = path.indexOf('?');
    String host = Authority.hostOf(request.authority());
    String pathAlone = query < 0 ? path : path.substring(0, query);
    // In one pass: what a client sends is not looked at for names.
    return NAME.matcher(String.valueOf(to))
        .replaceAll(
            name ->
                Matcher.quoteReplacement(
                    switch (name.group()) {
                      case "{host}" -> host;
                      case "{path}" -> pathAlone;
                      default -> path;
                    }));
  }

  private static int leadingSlashes(String uri) {
    int count = 0;
    while (count < uri.length() && (uri.charAt(count) == '/' || uri.charAt(count) == '\\')) {
      count++;
    }
    return count;
  }
}
