<!DOCTYPE html>
<html><body onload="init()">
{ "json": [1, 2, }
#include <stdio.h>
int main(void) { return 0; }
