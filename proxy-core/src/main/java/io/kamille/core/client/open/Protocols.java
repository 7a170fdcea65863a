package io.kamille.core.client.open;

import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.List;

/** Which versions of HTTP a listener speaks. */
public enum Protocols {
  H1,
  H2,
  BOTH;

  private static final String H2_WORD = "h2";
  private static final String H2_IN_CLEAR = "h2c";
  private static final String H1_WORD = "http/1.1";

  /** A list of their names. */
  static final ValueType<Protocols> TYPE =
      ValueTypes.list("list of protocols", Protocols::isName, "h2, h2c or http/1.1")
          .map(Protocols::of, Protocols::names);

  private static boolean isName(String text) {
    return text.equals(H2_WORD) || text.equals(H2_IN_CLEAR) || text.equals(H1_WORD);
  }

  private static Protocols of(List<String> names) {
    boolean isH2 = names.contains(H2_WORD) || names.contains(H2_IN_CLEAR);
    if (!names.contains(H1_WORD) && isH2) {
      return H2;
    }
    return isH2 ? BOTH : H1;
  }

  /** In the words of ALPN (RFC 7301), the preferred first. */
  public List<String> names() {
    return switch (this) {
      case H1 -> List.of(H1_WORD);
      case H2 -> List.of(H2_WORD);
      case BOTH -> List.of(H2_WORD, H1_WORD);
    };
  }
}
