package io.kamille.admin.api;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.JsonNode;

/** Reads the content of a request as JSON. Stateless; any thread. */
public final class JsonContent {

  private JsonContent() {}

  /**
   * The document that the content is.
   *
   * @throws InvalidRequest if it is none; the answer names the place
   */
  public static JsonNode of(AdminRequest request) throws InvalidRequest {
    try {
      return Json.mapper().readTree(request.content());
    } catch (JacksonException malformed) {
      throw new InvalidRequest(trouble(malformed.getLocation()));
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
}
