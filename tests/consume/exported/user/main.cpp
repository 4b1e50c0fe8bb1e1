int text_length();

int main() { return text_length() == 16 ? 0 : 1; }
