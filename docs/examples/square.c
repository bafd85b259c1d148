int square(int x) { return x * x; }

int main(int argc, char **argv)
{
	(void)argv;
	return square(argc) - 1;
}
