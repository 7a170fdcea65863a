package io.kamille.admin.api;

import io.kamille.admin.api.JsonContent.Invalid;
import io.kamille.admin.view.ApplianceView;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/** {@code POST /v1/cache/purges}: removes what is stored for a URL. */
final class Purges implements Resource {

  private static final String EXPECTED = "{\"url\": \"http://host/path\"}";
  private static final String NO_TARGET =
      "url must begin with http:// or https://, have a host, at most a port from 0 to 65535 behind it"
          + " and no user information, and be percent-encoded.";

  private final ApplianceView appliance;

  Purges(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public String path() {
    return "/v1/cache/purges";
  }

  @Override
  public String method() {
    return "POST";
  }

  @Override
  public Answer answer(AdminRequest request) {
    return JsonContent.answer(request, document -> Answer.json(purged(url(document))));
  }

  private record Purged(int purged) {}

  private Purged purged(String url) throws Invalid {
    if (url.indexOf('#') >= 0) {
      throw new Invalid("url must have no fragment: it is never sent in a request.");
    }
    OptionalInt purged = appliance.purge(url);
    if (purged.isEmpty()) {
      throw new Invalid(NO_TARGET);
    }
    return new Purged(purged.getAsInt());
  }

  private static String url(JsonNode document) throws Invalid {
    JsonNode url = document.get("url");
    if (!document.isObject() || document.size() != 1 || url == null || !url.isString()) {
      throw new Invalid("The content must be an object with one member: " + EXPECTED + ".");
    }
    return url.stringValue();
  }
}
