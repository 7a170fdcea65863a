package io.kamille.core.origin.wire;

import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.List;
import java.util.Locale;

/** Which requests may ask an origin to switch protocols (RFC 9110 §7.8). Stateless. */
final class UpgradeRule {

  private UpgradeRule() {}

  /**
   * Whether the request asks for nothing but {@code protocols}. A tunnel carries what nobody looks
   * at: HTTP/2 in it would pass by all rules for requests.
   *
   * @param protocols in lower case
   */
  static boolean allows(RequestHead request, List<String> protocols) {
    Fields fields = request.fields();
    if (!fields.has(FieldName.UPGRADE)
        || request.minorVersion() == 0
        || !ConnectionFields.names(fields, "upgrade")) {
      return false;
    }
    for (String line : fields.all(FieldName.UPGRADE)) {
      for (String protocol : line.split(",", -1)) {
        if (!protocols.contains(protocol.strip().toLowerCase(Locale.ROOT))) {
          return false;
        }
      }
    }
    return true;
  }
}
