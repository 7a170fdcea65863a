package io.kamille.cache.serve;

import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * What a route makes of the heads of responses between the origin and the client; tests in the
 * configuration ask it, too. Any thread.
 */
public record PassingHeads(CacheSettings settings, CacheStatus status) {

  /** Makes a head that came, of what may be stored, one that the route works with. */
  public void fetched(RequestHead request, ResponseHead head) {
    status.received(head.fields());
    settings.tagFields().gather(head.fields());
    if (request.method() == Method.HEAD || head.status() == StatusCode.NOT_MODIFIED) {
      settings.varyBy().addToUpdate(head.fields());
    } else {
      settings.varyBy().addTo(head.fields());
    }
  }

  /** The same of what has nothing to do with the store. */
  public void passed(RequestHead request, ResponseHead head) {
    status.received(head.fields());
    if (request.method().isSafe()) {
      settings.varyBy().addTo(head.fields());
    }
  }

  /** Makes it one for the client. */
  public void answer(RequestHead request, ResponseHead head, Forwarding forwarding) {
    removeTags(head.fields(), request);
    status.forwarded(head.fields(), forwarding);
  }

  /**
   * Takes the tags from fields that go to a client, if there are any: they are for us, and for
   * other proxies of ours.
   */
  public void removeTags(@Nullable Fields fields, RequestHead request) {
    if (fields != null) {
      settings.tagFields().gather(fields);
      if (request.sender() == Sender.CLIENT) {
        fields.remove(FieldName.SURROGATE_KEY);
        fields.remove(FieldName.CACHE_TAG);
      }
    }
  }
}
