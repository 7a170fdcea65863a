package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;

/** Reads the content of a request as JSON. Stateless; any thread. */
final class JsonContent {

  private JsonContent() {}

  /** What somebody makes of a document. */
  interface Reader {

    /** The answer to a document that may be had. */
    Answer answer(JsonNode document) throws Invalid;
  }

  /** What {@code reader} answers, or why the content asks for nothing we could do. */
  static Answer answer(AdminRequest request, Reader reader) {
    if (!isJson(request.contentType())) {
      return Answer.problem(
          StatusCode.UNSUPPORTED_MEDIA_TYPE, "The content must be application/json.");
    }
    try {
      return reader.answer(document(request));
    } catch (Invalid invalid) {
      return Answer.problem(StatusCode.BAD_REQUEST, invalid.reason);
    }
  }

  private static boolean isJson(@Nullable String contentType) {
    if (contentType == null) {
      return false;
    }
    int end = contentType.indexOf(';');
    String mediaType = end < 0 ? contentType : contentType.substring(0, end);
    return mediaType.strip().equalsIgnoreCase("application/json");
  }

  private static JsonNode document(AdminRequest request) throws Invalid {
    byte[] octets = new byte[request.content().remaining()];
    request.content().duplicate().get(octets);
    try {
      return Json.mapper().readTree(octets);
    } catch (JacksonException malformed) {
      throw new Invalid(trouble(malformed.getLocation()));
    }
  }

  /** Says where reading ended; what is nested too deeply, or too long a number, has no place. */
  private static String trouble(@Nullable TokenStreamLocation place) {
    return place == null
        ? "The content is nested too deeply, or a number in it is too long."
        : "The content is not JSON: line "
            + place.getLineNr()
            + ", column "
            + place.getColumnNr()
            + ".";
  }

  /** The content asks for nothing we could do. */
  static final class Invalid extends Exception {

    private static final long serialVersionUID = 1;

    private final String reason;

    Invalid(String reason) {
      super(reason, null, false, false);
      this.reason = reason;
    }
  }
}
