package io.kamille.admin.api;

import io.kamille.admin.view.ApplianceView;
import io.kamille.core.http.StatusCode;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** {@code POST /v1/cache/purges}: removes what is stored for a URL. */
final class Purges implements Resource {

  private static final String EXPECTED = "{\"url\": \"http://host/path\"}";

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
    if (!isJson(request.contentType())) {
      return Answer.problem(
          StatusCode.UNSUPPORTED_MEDIA_TYPE, "The content must be application/json.");
    }
    String url;
    try {
      url = url(request);
    } catch (InvalidContent invalid) {
      return Answer.problem(StatusCode.BAD_REQUEST, invalid.reason);
    }
    return Answer.json(new Purged(appliance.purge(url)));
  }

  private record Purged(int purged) {}

  private static boolean isJson(@Nullable String contentType) {
    if (contentType == null) {
      return false;
    }
    int end = contentType.indexOf(';');
    String mediaType = end < 0 ? contentType : contentType.substring(0, end);
    return mediaType.strip().equalsIgnoreCase("application/json");
  }

  private static String url(AdminRequest request) throws InvalidContent {
    JsonNode document = document(request);
    JsonNode url = document.get("url");
    if (!document.isObject() || document.size() != 1 || url == null || !url.isString()) {
      throw new InvalidContent("The content must be an object with one member: " + EXPECTED + ".");
    }
    return checked(url.stringValue());
  }

  private static JsonNode document(AdminRequest request) throws InvalidContent {
    byte[] octets = new byte[request.content().remaining()];
    request.content().duplicate().get(octets);
    try {
      return Json.mapper().readTree(octets);
    } catch (JacksonException malformed) {
      throw new InvalidContent(
          "The content is not JSON: line "
              + malformed.getLocation().getLineNr()
              + ", column "
              + malformed.getLocation().getColumnNr()
              + ".");
    }
  }

  private static String checked(String url) throws InvalidContent {
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException malformed) {
      throw new InvalidContent("url is not a URI: " + malformed.getReason() + ".");
    }
    String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw new InvalidContent("url must begin with http:// or https://.");
    }
    if (uri.getHost() == null || uri.getRawUserInfo() != null) {
      throw new InvalidContent("url must have a host and no user information.");
    }
    if (uri.getRawFragment() != null) {
      throw new InvalidContent("url must have no fragment: it is never sent in a request.");
    }
    return url;
  }

  /** The content asks for nothing we could do. */
  private static final class InvalidContent extends Exception {

    private static final long serialVersionUID = 1;

    private final String reason;

    InvalidContent(String reason) {
      super(reason, null, false, false);
      this.reason = reason;
    }
  }
}
