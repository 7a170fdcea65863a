package io.kamille.admin.api;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The cookie that a session of the control plane has in a browser (RFC 6265). Pure. */
final class SessionCookie {

  private SessionCookie() {}

  /** Its name: cookies ignore ports, so the port is a part of it. */
  static String name(AdminRequest request) {
    String host = request.hosts().isEmpty() ? "" : request.hosts().getFirst();
    int colon = host.lastIndexOf(':');
    String port = colon > host.lastIndexOf(']') ? host.substring(colon + 1) : "80";
    return "kamille-" + port.toLowerCase(Locale.ROOT);
  }

  /** What the request has for it, or null. */
  static @Nullable String value(AdminRequest request) {
    String field = request.field("Cookie");
    if (field == null) {
      return null;
    }
    String name = name(request);
    for (String pair : field.split(";", -1)) {
      String stripped = pair.strip();
      if (stripped.startsWith(name + "=")) {
        return stripped.substring(name.length() + 1);
      }
    }
    return null;
  }
}
