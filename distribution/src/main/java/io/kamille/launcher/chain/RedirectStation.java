package io.kamille.launcher.chain;

import io.kamille.cache.rules.Reason;
import io.kamille.core.answer.RedirectTable;
import io.kamille.core.answer.RedirectsFile;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.ResponseHead;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/** {@code routes[].redirects-file}: paths that have moved. */
record RedirectStation(Path file) implements Station {

  @Override
  public String describe() {
    return "redirects by " + file;
  }

  @Override
  public ExchangeHandler before(ExchangeHandler next, Link link) {
    return link.moved(() -> read(link.parts())).before(next);
  }

  private RedirectsFile read(Link.Parts parts) {
    try {
      return new RedirectsFile(file, parts.files(), parts.clock());
    } catch (IOException wrong) {
      throw new UncheckedIOException(wrong.getMessage(), wrong);
    }
  }

  @Override
  public void judge(Passage passage) {
    RedirectTable moved = passage.facts().moved();
    ResponseHead head = moved == null ? null : moved.answer(passage.request());
    if (head != null) {
      String to = head.status() + " to " + head.fields().first(FieldName.LOCATION);
      passage.answer(
          "redirect",
          head,
          new Reason("redirect", "routes[].redirects-file", passage.request().path(), to));
    }
  }

  @Override
  public void judgeResponse(Passage passage) {}
}
