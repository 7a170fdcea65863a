package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a route makes of the fields of a request. */
class NormalFormTest {

  private static NormalForm form(String text) {
    return Objects.requireNonNull(NormalForm.parse(text));
  }

  /** RFC 4647 §3.4. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "de; de",
        "DE-ch; de",
        "'fr, en'; en",
        "'en;q=0.5, de;q=0.8'; de",
        "'en;q=0.5, de ; q=0.8'; de",
        "'en, de'; en",
        "'de;q=0, en;q=0.1'; en",
        "pt-BR; pt-BR",
        "pt-br-x-a; pt-BR",
        "zh-Hant-CN-x-private1-private2; zh-Hant",
        "zh; de",
        "pt; de",
        "'*'; de",
        "fr; de",
        "''; de",
        "'de;q=2, en;q=x'; de",
        "',,en'; en",
      })
  void theBestLanguageOfTheListIsTaken(String accepted, String best) {
    Fields request = Fields.of("Accept-Language", accepted);
    assertThat(form("language:de,en,pt-BR,zh-Hant").of(request)).isEqualTo(best);
  }

  @Test
  void linesAreOneListAndNoneIsTheFirstLanguage() {
    NormalForm form = form("language:de,en");
    assertThat(form.of(Fields.of("Accept-Language", "fr", "Accept-Language", "en")))
        .isEqualTo("en");
    assertThat(form.of(Fields.of())).isEqualTo("de");
  }

  @Test
  void aLongListIsReadToItsThirtySecondMember() {
    NormalForm form = form("language:de,en");
    assertThat(form.of(Fields.of("Accept-Language", "fr,".repeat(31) + "en"))).isEqualTo("en");
    assertThat(form.of(Fields.of("Accept-Language", "fr,".repeat(32) + "en"))).isEqualTo("de");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'image/avif,image/webp,*/*;q=0.8'; avif",
        "'image/webp, image/avif'; avif",
        "'image/webp,*/*'; webp",
        "'image/avif;q=0, image/webp;q=0.1'; webp",
        "'image/avif;a=b;q=0.0'; other",
        "'image/*'; other",
        "'text/html'; other",
      })
  void theNewestFormatThatIsNamedIsTaken(String accepted, String best) {
    Fields request = Fields.of("Accept", accepted);
    NormalForm form = form("images");
    assertThat(form.of(request)).isEqualTo(best);
    form.applyTo(request);
    assertThat(form.of(request)).isEqualTo(best);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'Mozilla/5.0 (Linux; Android 10; K) Chrome/130.0 Mobile Safari/537.36'; mobile",
        "'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)'; mobile",
        "'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'; other",
        "'Mozilla/5.0 (Linux; Android 13; SM-X900) Chrome/130.0 Safari/537.36'; other",
      })
  void aPhoneIsKnownByItsName(String agent, String device) {
    NormalForm form = form("device");
    Fields request = Fields.of("User-Agent", agent);
    assertThat(form.of(request)).isEqualTo(device);
    form.applyTo(request);
    assertThat(request.all("Sec-CH-UA-Mobile"))
        .containsExactly(device.equals("mobile") ? "?1" : "?0");
    assertThat(request.all("User-Agent")).containsExactly(agent);
  }

  @Test
  void aHintCountsMoreThanAName() {
    assertThat(form("device").of(Fields.of("User-Agent", "Mobile", "Sec-CH-UA-Mobile", "?0")))
        .isEqualTo("other");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "currency=EUR | EUR",
        "a=1; currency=EUR; b=2 | EUR",
        "a=1;currency = EUR ;b=2 | EUR",
        "currency= | ''",
        "a=1 |",
        "xcurrency=EUR |",
        "currencyx=EUR |",
        "a=currency |",
      })
  void aCookieIsItsValue(String cookies, String value) {
    Fields request = Fields.of("Cookie", cookies);
    assertThat(form("cookie:currency").of(request)).isEqualTo(value);
    assertThat(form("cookie:currency").is(request, value)).isTrue();
    assertThat(form("cookie:currency").is(request, "CHF")).isFalse();
  }

  /** Servers do not agree which of them it is. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "currency=EUR; currency=CHF",
        "currency=EUR; Currency=CHF",
        "currency=EUR, currency=CHF",
        "a=1, currency=EUR",
        "currency=EUR,b=2",
        "a=\"x currency=CHF\"; currency=EUR",
        "currency =CHF; currency=EUR",
      })
  void whatServersReadDifferentlyIsNobodyElsesValue(String cookies) {
    Fields request = Fields.of("Cookie", cookies);
    NormalForm form = form("cookie:currency");
    boolean isOnlyOne = cookies.equals("a=1, currency=EUR");
    assertThat(form.is(request, "EUR")).isEqualTo(isOnlyOne);
    assertThat(form.is(request, "CHF")).isFalse();
    assertThat(form.is(request, null)).isFalse();
    assertThat(form.is(request, form.of(request))).isTrue();
  }

  @Test
  void severalLinesOfCookiesAreRead() {
    Fields request = Fields.of("Cookie", "a=1", "Cookie", "currency=EUR");
    assertThat(form("cookie:currency").is(request, "EUR")).isTrue();
    assertThat(form("cookie:other").is(request, null)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cookie:a", "language:de,en", "images", "device"})
  void itsNameIsNoFieldAndIsReadBack(String text) {
    NormalForm form = form(text);
    assertThat(NormalForm.parse(form.name())).isEqualTo(form);
    assertThat(form.name()).contains(":").doesNotContain(",");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cookie:",
        "cookie:a b",
        "language:",
        "language:de",
        "language:de,",
        "language:de, en",
        "language:de,DE",
        "language:d,en",
        "language:*,en",
        "image",
        "Images",
      })
  void otherTextsAreNone(String text) {
    assertThat(NormalForm.parse(text)).isNull();
  }
}
