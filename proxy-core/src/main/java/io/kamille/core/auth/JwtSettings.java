package io.kamille.core.auth;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import io.kamille.core.setting.ValueTypes;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Signed tokens.
 *
 * @param keys a file or a URL with a JWK set (RFC 7517); null for no tokens
 * @param issuer what {@code iss} must be
 * @param audience what {@code aud} must have one of
 * @param fields that the origin sees, with the claim that each one tells
 */
public record JwtSettings(
    @Nullable String keys,
    @Nullable String issuer,
    List<String> audience,
    Map<String, TokenClaim> fields) {

  /**
   * A claim of a token.
   *
   * @param claim its name
   */
  public record TokenClaim(String claim) {

    static final Setting<String> CLAIM =
        Setting.of(
            "claim",
            ValueTypes.text("name of a claim", "a claim such as sub", text -> !text.isEmpty()),
            "The name of the claim.");

    static final Section<TokenClaim> SECTION = Section.of(TokenClaim.class, CLAIM);
  }

  public static final Setting<String> KEYS =
      Setting.of(
          "keys",
          ValueTypes.text(
                  "file or URL",
                  "the path of a file, an https:// URL, or an http:// URL of this machine",
                  text -> !isUrl(text) || isRight(text))
              .located(JwtSettings::located),
          "A JWK set (RFC 7517): the path of a file, or a URL. Kamille reads a changed file within"
              + " a second. It fetches a URL every 5 minutes, and earlier if a token names an"
              + " unknown key: at first after a second, in the end every 30 seconds.");

  public static final Subsection<TokenClaim> FIELDS =
      TokenClaim.SECTION
          .named(
              "fields",
              "Request fields that the origin sees, with the claim that each one tells. `X-User:"
                  + " sub` is short for `X-User: {claim: sub}`. Kamille removes fields with these"
                  + " names from the client's request.")
          .withShorthand(TokenClaim.CLAIM);

  static final Section<JwtSettings> SECTION =
      Section.of(
          JwtSettings.class,
          KEYS,
          Setting.of(
              "issuer",
              ValueTypes.text("text", "what the claim iss must be", text -> !text.isEmpty()),
              "The only issuer (`iss`) whose tokens count."),
          Setting.of(
                  "audience",
                  ValueTypes.list(
                      "list of audiences", text -> !text.isEmpty(), "an audience without a comma"),
                  "A token must name one of these in `aud`.")
              .orElse("tokens with `aud` are refused", List.of()),
          FIELDS);

  /** Whether those keys lie behind a URL. */
  static boolean isUrl(String keys) {
    return keys.contains("://");
  }

  private static @Nullable String located(String text, Path directory) {
    if (isUrl(text)) {
      return isRight(text) ? text : null;
    }
    Path file = ValueTypes.located(text, directory);
    return file == null ? null : file.toString();
  }

  private static boolean isRight(String text) {
    try {
      URI uri = new URI(text);
      String host = uri.getHost();
      return host != null
          && uri.getUserInfo() == null
          && ("https".equals(uri.getScheme())
              || ("http".equals(uri.getScheme())
                  && List.of("127.0.0.1", "[::1]", "localhost").contains(host)));
    } catch (URISyntaxException e) {
      return false;
    }
  }
}
