package io.kamille.core.auth;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Subsection;

/**
 * How a route finds out who its clients are. At most one of its parts is on.
 *
 * @param basic passwords of a file
 * @param forward the verdict of an auth server
 * @param jwt signed tokens
 */
public record AuthSettings(BasicAuthSettings basic, ForwardAuthSettings forward, JwtSettings jwt) {

  public static final Subsection<BasicAuthSettings> BASIC =
      BasicAuthSettings.SECTION.one("basic", "Clients give a name and a password (RFC 7617).");

  public static final Subsection<ForwardAuthSettings> FORWARD =
      ForwardAuthSettings.SECTION.one("forward", "An auth server decides about each request.");

  public static final Subsection<JwtSettings> JWT =
      JwtSettings.SECTION.one(
          "jwt", "Clients give a signed token (RFC 7519) as `Authorization: Bearer`.");

  /** The settings under {@code auth} of a route. */
  public static final Section<AuthSettings> SECTION =
      Section.of(AuthSettings.class, BASIC, FORWARD, JWT);

  /** Everybody. */
  public static final AuthSettings NONE = SECTION.defaults();

  public boolean isOn() {
    return basic.usersFile() != null || forward.upstream() != null || jwt.keys() != null;
  }
}
