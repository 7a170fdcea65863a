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
    assertThat(request.all("User-Agent")).doesNotContain(agent).hasSize(1);
    assertThat(form.of(request)).isEqualTo(device);
  }

  /** Else the page for phones would be stored as the other one. */
  @ParameterizedTest
  @ValueSource(strings = {"iPhone Mobile", "Opera Mini", "curl/8"})
  void aHintCountsMoreThanANameAndTheOriginGetsNoOtherName(String agent) {
    NormalForm form = form("device");
    Fields request = Fields.of("User-Agent", agent, "Sec-CH-UA-Mobile", "?0");
    assertThat(form.of(request)).isEqualTo("other");
    form.applyTo(request);
    Fields another = Fields.of("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)");
    form.applyTo(another);
    assertThat(request.all("User-Agent")).isEqualTo(another.all("User-Agent"));
    assertThat(request.all("Sec-CH-UA-Mobile")).containsExactly("?0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "currency=EUR | EUR",
        "a=1; currency=EUR; b=2 | EUR",
        "a=1;currency=EUR;b=2 | EUR",
        "currency=EUR,b=2 | EUR,b=2",
        "a=\"x\"; currency=EUR | EUR",
        "a=%7B%22currency%22%3A%22CHF%22%7D; currency=EUR | EUR",
        "a={\"currency\":\"CHF\"}; currency=EUR | EUR",
        "currency= | ''",
        "a=1 |",
        "xcurrency=EUR |",
        "currencyx=EUR |",
        "a=currency |",
      })
  void aCookieIsItsValue(String cookies, String value) {
    Fields request = Fields.of("Cookie", cookies);
    assertThat(form("cookie:currency").isUnclear(request)).isFalse();
    assertThat(form("cookie:currency").of(request)).isEqualTo(value);
    assertThat(form("cookie:currency").is(request, value)).isTrue();
    assertThat(form("cookie:currency").is(request, "CHF")).isFalse();
  }

  /** Servers do not agree which of them it is, or whether it is one. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "x=1,currency=EUR",
        "CURRENCY=EUR",
        "x= currency=EUR",
        "currency =EUR",
        "x=\"a, currency=EUR\"",
        "x=\"a; currency=EUR; y=\"",
        "x=\"a\\\"; currency=EUR; y=\"",
        "x=\"a\"currency=EUR",
        "a=1;  currency=EUR",
        "a=1;\tcurrency=EUR",
        "a=1;\u00a0currency=EUR",
        "currency",
        "a=1; currency; b=2",
        "currency[0]=EUR",
        "%63urrency=EUR",
        "%20currency=EUR",
        "+currency=CHF; currency=EUR",
        "currency=EUR; +%20+currency=CHF",
        "currency+=EUR",
        "currency%00=EUR",
        "currency=EUR; currency=EUR",
        "currency=EUR; currency=CHF",
        "currency=EUR; Currency=CHF",
        "currency=EUR, currency=CHF",
        "a=\"x currency=CHF\"; currency=EUR",
        "currency =CHF; currency=EUR",
        "currency=EUR ",
        "currency=EUR ; b=1",
        "currency=EUR\t; b=1",
      })
  void whatServersReadDifferentlyIsUnclear(String cookies) {
    isUnclear(form("cookie:currency"), cookies);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shop.currency=EUR",
        "shop[currency=EUR",
        "shop currency=EUR",
        "shop%5Bcurrency=EUR",
        "shop_Currency=EUR",
        "shop_currency=EUR; shop.currency=CHF",
      })
  void aNameThatPhpReadsAsTheCookieIsFound(String cookies) {
    isUnclear(form("cookie:shop_currency"), cookies);
    Fields plain = Fields.of("Cookie", "shop_currency=EUR");
    assertThat(form("cookie:shop_currency").isUnclear(plain)).isFalse();
  }

  @Test
  void aCookieBehindMoreThanServersReadIsUnclear() {
    isUnclear(form("cookie:currency"), "a=1; ".repeat(100) + "currency=EUR");
  }

  @Test
  void aLongRunOfEscapesIsReadOnce() {
    isUnclear(form("cookie:b"), "%61".repeat(9000) + "b=1");
    String another = "x" + "%61".repeat(9000) + "b=1";
    assertThat(form("cookie:b").isUnclear(Fields.of("Cookie", another))).isFalse();
  }

  private static void isUnclear(NormalForm form, String cookies) {
    assertThat(form.isUnclear(Fields.of("Cookie", cookies))).isTrue();
  }

  @Test
  void severalLinesOfCookiesAreUnclearIfOneHasIt() {
    Fields request = Fields.of("Cookie", "a=1", "Cookie", "currency=EUR");
    assertThat(form("cookie:currency").isUnclear(request)).isTrue();
    assertThat(form("cookie:a").isUnclear(request)).isTrue();
    assertThat(form("cookie:other").isUnclear(request)).isFalse();
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

  @ParameterizedTest
  @CsvSource({"508, mobile", "509, other", "100000, other"})
  void ofTheNameOfAClientTheFirst512OctetsCount(int before, String device) {
    Fields request = Fields.of("User-Agent", "x".repeat(before) + "Mobi");
    assertThat(form("device").of(request)).isEqualTo(device);
  }
}
