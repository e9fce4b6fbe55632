module pins

go 1.24.0
