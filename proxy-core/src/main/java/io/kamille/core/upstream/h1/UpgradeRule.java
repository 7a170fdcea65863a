package io.kamille.core.upstream.h1;

import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.Locale;

/** Which requests may ask an origin to switch protocols (RFC 9110 §7.8). */
final class UpgradeRule {

  private UpgradeRule() {}

  /** HTTP/2 in the clear is between neighbours; every other protocol may be switched to. */
  static boolean allows(RequestHead request) {
    Fields fields = request.fields();
    if (!fields.has(FieldName.UPGRADE)
        || request.minorVersion() == 0
        || !ConnectionFields.names(fields, "upgrade")) {
      return false;
    }
    for (String protocol : fields.all(FieldName.UPGRADE)) {
      if (protocol.toLowerCase(Locale.ROOT).contains("h2c")) {
        return false;
      }
    }
    return true;
  }
}
